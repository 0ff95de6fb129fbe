"use strict";
// The match as its rows tell it, and what was known at any moment of it. Nothing here touches the page.

const NEAR = 0.06; // seconds: films step by frames, journals by clips

const TYPES = {
  finish: "Shot",
  penalty_or_card: "Penalty or card",
  foul_or_offside: "Foul or offside",
  set_piece: "Set piece",
  substitution: "Substitution",
  kick_off: "Kick-off",
  clearance_or_out: "Clearance or out",
  open_play: "Open play",
  end_of_period: "End of period",
};
const MODES = { current: "Event", recent: "Recent", historical: "Earlier" };
const MODES_TOLD = {
  current: "of the event that has just closed",
  recent: "of the last minutes",
  historical: "of something earlier in the half",
};
const CLOSED_BY = {
  learned: "closed by the transition model",
  rollover: "closed by the longest time an event may take",
  gap: "closed by a gap in the film",
  half_end: "closed by the end of the half",
};
const SEGMENTS = {
  closing: "until the next clip showed that the event was over",
  arrival: "until that clip was in hand",
  waiting: "behind earlier clips",
  vision: "looking at the clip",
  memory: "memory and decision",
  records: "records that came first",
  generation: "writing the sentence",
  checks: "checks and names",
};

class Match {
  constructor(limits, caption) {
    this.limits = limits;
    this.caption = caption;
    this.header = {};
    this.clear();
  }

  clear() {
    this.seq = 0;
    this.halves = new Map();
    this.byId = new Map();
    this.corrections = new Map();
    this.counts = new Map();
    this.notes = [];
    this.last = null;
  }

  half(number) {
    let half = this.halves.get(number);
    if (!half) {
      half = { number, steps: [], events: [], records: [], decisions: [], lines: [] };
      this.halves.set(number, half);
    }
    return half;
  }

  /** Takes a row in; rows that were seen already change nothing. */
  add(row) {
    if (row.seq <= this.seq) return false;
    this.seq = row.seq;
    switch (row.k) {
      case "step":
        this.half(row.h).steps.push(row);
        this.last = row;
        break;
      case "event":
        this.half(row.h).events.push(row);
        this.byId.set(row.id, row);
        break;
      case "record":
        this.half(row.h).records.push(row);
        this.byId.set(row.id, row);
        break;
      case "decision":
        this.half(row.h).decisions.push(row);
        break;
      case "line":
        this.half(row.h).lines.push(row);
        this.byId.set(row.id, row);
        break;
      case "note":
        this.notes.push(row);
        break;
      case "count":
        this.counts.set(row.name, row.total);
        break;
      case "correction":
        this.corrections.set(row.target, [...(this.corrections.get(row.target) || []), row]);
        break;
    }
    return true;
  }

  get numbers() {
    return [...this.halves.keys()].sort((a, b) => a - b);
  }

  end(number) {
    const half = this.halves.get(number);
    if (!half) return 0;
    return Math.max(0, ...[half.steps, half.lines].filter((rows) => rows.length).map((rows) => rows.at(-1).e ?? rows.at(-1).at));
  }

  get over() {
    return this.notes.some((each) => each.code === "over");
  }

  /** A sentence as people are to see it, after all corrections. */
  shown(line) {
    let text = line.text;
    let visible = line.status === "said";
    for (const each of this.corrections.get(line.id) || []) {
      if (each.kind === "correct") text = each.text;
      else visible = each.kind === "show";
    }
    return { text, visible: visible && text !== "", corrected: this.corrections.has(line.id) };
  }

  lines() {
    return this.numbers.flatMap((number) => this.halves.get(number).lines);
  }

  /** The captions of a half: [start, end, line], one waiting for the one before it by some seconds at most. */
  cues(number) {
    const { shortest, longest, speed, patience } = this.caption;
    const found = [];
    let until = 0;
    for (const line of this.halves.get(number)?.lines || []) {
      const { text, visible } = this.shown(line);
      if (!visible) continue;
      const start = Math.max(line.at, Math.min(until, line.at + patience));
      until = start + Math.min(longest, Math.max(shortest, 1 + text.length / speed));
      found.push([start, until, line]);
    }
    return found;
  }

  /** What was known when the film stood at this second: all of it from clips that had been seen whole. */
  at(number, seconds) {
    const half = this.halves.get(number);
    if (!half) return null;
    const step = lastUpTo(half.steps, seconds, (each) => each.e);
    const cutoff = step ? step.e : 0;
    const over = step?.kind === "half_end";
    const known = half.events.slice(0, countUpTo(half.events, cutoff, (each) => each.at));
    const buffer = over ? [] : known.filter((each) => cutoff - each.e <= this.limits.window + NEAR);
    const decision = lastUpTo(half.decisions, cutoff, (each) => each.at);
    return {
      half: number,
      cutoff,
      over,
      step,
      buffer,
      selected: new Set(buffer.slice(-this.limits.selected).map((each) => each.id)),
      records: half.records.slice(0, countUpTo(half.records, cutoff, (each) => each.at)),
      decision: decision && Math.abs(decision.at - cutoff) < NEAR ? decision : null,
      line: lastUpTo(half.lines, seconds, (each) => each.at),
    };
  }

  decisionOf(line) {
    const half = this.halves.get(line.h);
    const found = lastUpTo(half.decisions, line.at, (each) => each.at);
    return found && Math.abs(found.at - line.at) < NEAR ? found : null;
  }
}

/** How many of these, in order of time, come no later than that. */
function countUpTo(rows, seconds, time) {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (time(rows[middle]) <= seconds + NEAR) low = middle + 1;
    else high = middle;
  }
  return low;
}

function lastUpTo(rows, seconds, time) {
  return rows[countUpTo(rows, seconds, time) - 1] ?? null;
}

// --- words ---

function clockOf(seconds) {
  const whole = Math.max(0, Math.floor(seconds + NEAR));
  return `${String(Math.floor(whole / 60)).padStart(2, "0")}:${String(whole % 60).padStart(2, "0")}`;
}

function duration(seconds) {
  return seconds >= 90 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds)} s`;
}

function ordinal(number) {
  return ["", "First", "Second", "Third", "Fourth"][number] || `${number}th`;
}

function halfName(number) {
  return number <= 2 ? `${ordinal(number)} half` : `Extra time ${number - 2}`;
}

/** 'Corner, Clearance', or the event's type where nothing was seen to happen in it. */
function eventName(event) {
  return event.actions.length ? event.actions.map(actionName).join(", ") : TYPES[event.type] || event.type;
}

function actionName(label) {
  return { "Shots on target": "Shot on target", "Shots off target": "Shot off target" }[label] || label.replace("->", "–");
}

function sideName(side, header) {
  return { home: header.home || "home side", away: header.away || "away side" }[side] || "";
}

const shortId = (id) => id.slice(id.lastIndexOf("#") + 1);

/** A gate of the scheduler in words: its condition with the numbers behind it. */
function gateWords(reason, detail, threshold) {
  const [have, need] = detail.split(" of ");
  const seconds = (text) => duration(parseFloat(text));
  const wait = () => seconds(String(Math.max(0, parseFloat(need) - parseFloat(have))));
  const named = (text) => {
    const [type, ...actions] = text.split(", ");
    return (actions.length ? actions.map(actionName).join(", ") : TYPES[type] || type).toLowerCase();
  };
  switch (reason) {
    case "salient_event":
      return `an event worth telling has just closed: ${named(detail)}`;
    case "tick":
      return `time for a summary, with ${detail} to look back on`;
    case "relevant_record": {
      const [id, score] = detail.split(" at ");
      const asked = threshold === undefined ? "" : `, and ${threshold} is asked for`;
      return `${shortId(id)} fits at ${parseFloat(score).toFixed(2)}${asked}`;
    }
    case "no_event":
      return "no event has just closed";
    case "not_salient":
      return `the event that closed is nothing to tell by itself: ${named(detail)}`;
    case "not_sure":
      return `not sure enough of the event: ${have}, and ${need} is asked for`;
    case "event_cooldown":
      return `an event was told ${seconds(have)} ago, ${wait()} to wait`;
    case "before_tick":
      return `next summary in ${wait()}`;
    case "few_events":
      return `too little to sum up: ${have} of ${need} events`;
    case "near_event":
      return `an event was told only ${seconds(have)} ago`;
    case "history_cooldown":
      return `an earlier moment was recalled ${seconds(have)} ago, ${wait()} to wait`;
    case "few_records":
      return `too few records: ${have} of ${need}`;
    case "no_candidate":
      return detail === "none eligible" ? "no record is old enough to recall" : "records were not ranked";
    case "low_score":
      return `no record fits well enough: ${(Math.floor(parseFloat(have) * 100) / 100).toFixed(2).replace("-", "−")}, and ${need} is asked for`;
    case "speaking":
      return `a sentence was said ${seconds(have)} ago`;
    default:
      return `${reason} ${detail}`.trim();
  }
}

/** Numbers with two decimals that add up to their total with two decimals: what is lost goes where most was cut off. */
function addingUp(values) {
  const total = Math.round(values.reduce((sum, each) => sum + each, 0) * 100);
  const parts = values.map((each) => Math.floor(each * 100 + 1e-6));
  const order = values.map((each, place) => [each * 100 - parts[place], place]).sort((a, b) => b[0] - a[0]);
  for (let missing = total - parts.reduce((sum, each) => sum + each, 0), next = 0; missing > 0; missing--, next++) {
    parts[order[next % order.length][1]]++;
  }
  return { total: total / 100, parts: parts.map((each) => each / 100) };
}
