// What stands beside the film: the moment (decision, memory, buffer, records) and the sentences with their evidence.

/** All that was known at one moment, as four cards. */
function momentCards(match, moment, go) {
  if (!moment || !moment.step) {
    return [make("p", { class: "empty" }, "No clip has been seen whole yet: the first decision comes after four seconds.")];
  }
  return [decisionCard(match, moment), activeCard(match, moment), bufferCard(match, moment, go), recordsCard(match, moment, go)];
}

function card(name, title, aside, ...children) {
  const head = make("header", {}, make("h3", {}, title), aside ? make("span", { class: "aside" }, aside) : null);
  return make("section", { class: `card ${name}` }, head, ...children);
}

function decisionCard(match, moment) {
  const { decision } = moment;
  const step = moment.step;
  if (!decision) {
    const words = moment.over ? "The half is over." : step.kind === "gap" ? "The film has a gap here: there is nothing to see." : "No decision stands in the journal for this clip.";
    return card("decision", "Now", clockOf(moment.cutoff), make("p", {}, words));
  }
  const line = moment.line && Math.abs(moment.line.at - moment.cutoff) < NEAR && moment.line.h === moment.half ? moment.line : null;
  let head = "Silent";
  if (decision.mode) {
    head = !line ? `Speaking ${MODES_TOLD[decision.mode]}` : match.shown(line).visible ? `Speaks ${MODES_TOLD[decision.mode]}` : line.status === "failed" ? "A sentence failed" : "A sentence was held back";
  }
  return card(
    "decision",
    head,
    `at ${clockOf(moment.cutoff)}`,
    gateList(decision),
    line && !match.shown(line).visible && line.reason ? make("p", { class: "why" }, line.reason) : null,
  );
}

function gateList(decision) {
  return make(
    "ul",
    { class: "gates" },
    decision.gates.map(([mode, reason, open, detail]) =>
      make(
        "li",
        { class: `${open ? "open" : "shut"}${decision.mode === mode ? " chosen" : ""}`, data: { mode, reason } },
        make("b", {}, MODES[mode]),
        make("span", {}, gateWords(reason, detail, decision.threshold)),
      ),
    ),
  );
}

function activeCard(match, moment) {
  const { step } = moment;
  if (moment.over || step.from === null) {
    return card("active", "Active memory", "", make("p", {}, moment.over ? "Forgotten with the half." : "Empty."));
  }
  const long = moment.cutoff - step.from;
  const bar = make("div", { class: "meter", role: "img", "aria-label": `${duration(long)} of at most ${match.limits.event} s` }, make("i"));
  bar.firstChild.style.width = `${Math.min(100, (100 * long) / match.limits.event)}%`;
  const chance = step.transition === null ? null : `Chance that a new event began with the last clip: ${Math.round(step.transition * 100)}%`;
  return card(
    "active",
    "Active memory",
    `since ${clockOf(step.from)}`,
    make("p", {}, make("b", {}, `${duration(long)} `), `of at most ${match.limits.event} s, ${Math.round(long * 2)} frames`),
    bar,
    chance ? make("p", { class: "fine" }, chance) : null,
  );
}

function bufferCard(match, moment, go) {
  const rows = [...moment.buffer].reverse().map((each) =>
    make(
      "li",
      {},
      make(
        "button",
        {
          type: "button",
          class: `event${moment.selected.has(each.id) ? " selected" : ""}`,
          data: { id: each.id, type: each.type },
          title: `${CLOSED_BY[each.by]}; ${Math.round(each.confidence * 100)}% sure of its type`,
          on: { click: () => go(each.h, each.s) },
        },
        make("i", { data: { type: each.type } }),
        make("time", {}, clockOf(each.s)),
        make("span", {}, eventName(each)),
        make("em", { dir: "auto" }, sideName(each.side, match.header)),
      ),
    ),
  );
  const aside = `${moment.buffer.length} in ${match.limits.window / 60} min, ${moment.selected.size} in use`;
  return card("buffer", "Buffer", rows.length ? aside : "", rows.length ? make("ul", {}, rows) : make("p", {}, "No event has closed in the last minutes."));
}

function recordsCard(match, moment, go) {
  const scores = new Map(moment.decision?.ranking || []);
  const ranked = moment.records.filter((each) => scores.has(each.id)).sort((a, b) => scores.get(b.id) - scores.get(a.id));
  const shown = [...ranked, ...moment.records.filter((each) => !scores.has(each.id)).reverse()].slice(0, Math.max(4, ranked.length));
  const rows = shown.map((each) =>
    make(
      "li",
      {},
      make(
        "button",
        { type: "button", class: "record", data: { id: each.id }, on: { click: () => go(each.h, each.s) } },
        make("time", {}, clockOf(each.s)),
        make("span", { dir: "auto" }, tokens(each.text)),
        scores.has(each.id) ? make("b", { class: "score", title: "How well it fits this moment" }, scores.get(each.id).toFixed(2)) : null,
      ),
    ),
  );
  const waiting = moment.step.pending ? `, ${moment.step.pending} being written` : "";
  const aside = moment.records.length || waiting ? `${moment.records.length} ready${waiting}` : "";
  return card("records", "Records", aside, rows.length ? make("ul", {}, rows) : make("p", {}, "Nothing has been written down yet."));
}

/** A sentence in the list; what it was said from is made when it is opened. */
function lineItem(match, line, pick) {
  const { text, visible, corrected } = match.shown(line);
  const state = visible ? "" : line.status === "failed" ? "failed" : "held";
  return make(
    "li",
    { data: { id: line.id, mode: line.mode }, class: `line ${state}` },
    make(
      "button",
      { type: "button", class: "say", "aria-expanded": "false", on: { click: () => pick(line) } },
      make("time", {}, clockOf(line.at)),
      make("span", { class: "chip", title: MODES_TOLD[line.mode] }, MODES[line.mode]),
      state || corrected ? make("span", { class: "mark" }, state === "failed" ? "failed" : state ? "not said" : "corrected") : null,
      make("span", { class: "text", dir: "auto" }, text || "No sentence came of it."),
    ),
  );
}

/** For one sentence: why now, what it was said from, whose names stand in it, and what its delay is made of. */
function lineDetails(match, line, go) {
  const parts = [];
  if (line.reason) parts.push(make("p", { class: "why" }, `${line.status === "held" ? "Held back" : "Why"}: ${line.reason}`));
  for (const each of match.corrections.get(line.id) || []) {
    const words = { hide: "Hidden by a person", show: "Shown by a person", correct: "Corrected by a person" }[each.kind];
    parts.push(make("p", { class: "why", dir: "auto" }, each.why ? `${words}: ${each.why}` : `${words}.`));
  }
  const decision = match.decisionOf(line);
  if (decision) parts.push(make("h4", {}, "Why now"), gateList(decision));
  parts.push(
    make("h4", {}, "Said from"),
    make("ul", { class: "evidence" }, line.evidence.map((each) => evidenceItem(match, each, go))),
    make("p", { class: "fine" }, cutoffWords(line)),
  );
  const names = namesOf(match, line);
  if (names) parts.push(make("h4", {}, "Names"), names);
  const delay = latencyOf(line);
  if (delay) parts.push(make("h4", {}, "Delay"), delay);
  parts.push(make("p", { class: "fine id" }, shortId(line.id)));
  return make("div", { class: "details" }, ...parts);
}

function cutoffWords(line) {
  const frames = line.evidence.reduce((sum, each) => sum + (each.kind === "record" ? 0 : each.frames), 0);
  const dropped = line.dropped ? ` ${line.dropped} records found no room.` : "";
  return `Nothing after ${clockOf(line.at)} was known${frames ? `; ${frames} frames were seen for it` : ""}.${dropped}`;
}

function evidenceItem(match, each, go) {
  const row = match.byId.get(each.ref);
  const kind = { active: "Going on", event: "Event", record: "Record", feed: "Feed" }[each.kind];
  let text = { active: "the event that was going on", feed: "a line of the event feed" }[each.kind] || shortId(each.ref);
  let side = "";
  if (row && each.kind === "record") text = row.text;
  else if (row && row.k === "event") {
    if (each.kind === "event") text = eventName(row);
    side = each.kind === "event" ? sideName(row.side, match.header) : "";
  }
  const span = each.e > each.s ? `${clockOf(each.s)}–${clockOf(each.e)}` : clockOf(each.s);
  const aside = [each.frames ? `${each.frames} frames` : "", each.score === null ? "" : `fits at ${each.score.toFixed(2)}`].filter(Boolean);
  return make(
    "li",
    {},
    make(
      "button",
      { type: "button", class: "proof", data: { ref: each.ref, kind: each.kind }, title: `${each.ref}: go there`, on: { click: () => go(each.h, each.s) } },
      make("span", { class: "kind" }, kind),
      make("time", {}, span),
      make("span", { class: "what", dir: "auto" }, tokens(side ? `${text} · ${side}` : text)),
      aside.length ? make("span", { class: "aside" }, aside.join(", ")) : null,
    ),
  );
}

/** The sentence as the model wrote it, and what stands for its placeholders. */
function namesOf(match, line) {
  if (!line.raw || line.raw === line.text) return null;
  const told = line.names.map(([token, side, name]) => {
    const whose = sideName(side, match.header);
    const known = name || (token === "[TEAM]" ? whose : whose && `${whose}, no name known`);
    return make("span", { class: "name" }, tokens(token), ` ${known || "not known"}`);
  });
  return make("div", { class: "names" }, make("p", { class: "raw", dir: "auto" }, tokens(line.raw)), ...told);
}

/** A bar of segments that add up to the total; the part that no machine could take away stands apart. */
function latencyOf(line) {
  const shown = line.latency.filter(([, value]) => value > 0);
  if (!shown.length) return null;
  const { total, parts } = addingUp(shown.map(([, value]) => value));
  const structural = shown.reduce((sum, [name], place) => sum + (name === "closing" ? parts[place] : 0), 0);
  const bar = make("div", { class: "delay", "aria-hidden": "true" });
  const list = make("dl", { class: "segments" });
  shown.forEach(([name, value], place) => {
    if (parts[place] > 0) {
      const part = make("i", { data: { segment: name } });
      part.style.flexGrow = value;
      bar.append(part);
    }
    list.append(
      make("dt", { data: { segment: name } }, make("i", { data: { segment: name } }), SEGMENTS[name] || name),
      make("dd", { data: { seconds: String(parts[place]) } }, `${parts[place].toFixed(2)} s`),
    );
  });
  const machine = Math.round((total - structural) * 100) / 100;
  const head = make(
    "p",
    { class: "total", data: { total: String(total) } },
    make("b", {}, `${total.toFixed(2)} s`),
    structural ? ` after the event ended: ${structural.toFixed(2)} s of waiting for the next clip, ${machine.toFixed(2)} s of work` : " of work",
  );
  return make("div", { class: "latency" }, head, bar, list);
}

/** A text with its placeholders set apart. */
function tokens(text) {
  return text.split(/(\[(?:TEAM|PLAYER|COACH|REFEREE)\])/).map((each, place) => (place % 2 ? make("code", {}, each.slice(1, -1).toLowerCase()) : each));
}

/** Counters and everything that went wrong, with where. */
function totalsOf(match, go) {
  const table = make("dl", { class: "counts" });
  for (const [name, total] of [...match.counts].sort()) {
    table.append(make("dt", {}, name.replaceAll("_", " ")), make("dd", {}, String(total)));
  }
  const notes = match.notes.filter((each) => each.code !== "over").map((each) =>
    make(
      "li",
      { class: each.kind },
      make(
        "button",
        { type: "button", on: { click: () => go(each.h, each.s) } },
        make("time", {}, clockOf(each.s)),
        make("b", {}, each.kind),
        make("span", { dir: "auto" }, each.text),
      ),
    ),
  );
  return [table, notes.length ? make("ul", { class: "notes" }, notes) : make("p", { class: "fine" }, "Nothing went wrong.")];
}
