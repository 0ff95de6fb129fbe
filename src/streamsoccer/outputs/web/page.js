// Joins the parts: position, keyboard, captions, voice, and the rows of a match that is still going on.

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const match = new Match(data.limits, data.caption);
const video = $("film");
const player = new Player(video, data.films, match);
const belt = new Belt($("belt"), $("ribbon"), match, (half, seconds) => visit(half, seconds));
const track = video.addTextTrack("captions", "Commentary", "en");
const items = new Map(); // a line's ID to its place in the list
const view = { half: 0, key: "", picked: null, open: null, seconds: -1, stale: true, end: 0, filmed: -2 };
const voice = { on: false };
const live = { on: data.live, following: data.live, connected: false, heard: 0, sought: 0, waiting: data.live, last: "", problem: "", unfilmed: "" };

// --- what stands there from the start ---

function showHeader() {
  const { home, away, venue, date, model, pace } = match.header;
  const title = home && away ? `${home} – ${away}` : match.header.match || "Waiting for a match";
  document.title = title;
  const score = make("span", { class: "score", id: "score" });
  if (home && away) $("teams").replaceChildren(make("span", { dir: "auto" }, home), score, make("span", { dir: "auto" }, away));
  else $("teams").replaceChildren(make("span", { dir: "auto" }, title), score);
  const told = [venue, date, pace === "real" ? "at the pace of the match" : "", model ? `model ${model.slice(0, 8)}` : ""];
  $("facts").replaceChildren(...told.filter(Boolean).map((each) => make("span", { dir: "auto" }, each)), make("span", { id: "unsure" }));
  view.stale = true;
}

function showScore(step) {
  const { score, sure } = step?.facts || {};
  $("score").textContent = score ? `${score[0]}–${score[1]}` : match.header.home && match.header.away ? "–" : "";
  $("unsure").textContent = score && !sure ? "score as predicted" : "";
}

function showNotices() {
  const told = match.notes.filter((each) => each.kind === "notice" && each.code !== "over").map((each) => each.text);
  told.unshift(...[live.problem, live.unfilmed].filter(Boolean));
  const more = told.length > 1 ? ` (and ${told.length - 1} more, below the commentary)` : "";
  $("trouble").hidden = told.length === 0;
  $("trouble").textContent = told.length ? told[0] + more : "";
}

function showLines() {
  const lines = match.lines();
  $("empty").hidden = lines.length > 0;
  $("lines").replaceChildren();
  items.clear();
  let half = 0;
  const several = match.numbers.length > 1;
  for (const line of lines) {
    if (several && line.h !== half) $("lines").append(make("li", { class: "part" }, halfName(line.h)));
    half = line.h;
    addItem(line);
  }
}

function addItem(line) {
  const item = lineItem(match, line, (each) => visit(each.h, each.at, each));
  items.set(line.id, { item, line });
  $("lines").append(item);
  $("empty").hidden = true;
}

function showFilters() {
  const kinds = [...Object.entries(MODES), ["held", "Not said"]];
  $("filters").replaceChildren(
    ...kinds.map(([kind, words]) =>
      make(
        "button",
        {
          type: "button",
          class: "filter",
          "aria-pressed": "true",
          data: { mode: kind },
          on: {
            click: (event) => {
              const off = $("lines").classList.toggle(`no-${kind}`);
              event.currentTarget.setAttribute("aria-pressed", String(!off));
            },
          },
        },
        words,
      ),
    ),
  );
}

// --- position ---

function visit(half, seconds, line = null) {
  live.following = false;
  view.picked = line;
  if (voice.on) speechSynthesis.cancel();
  player.go(half, seconds);
  if (line) reveal(line, true);
}

/** Brings a sentence into sight: in its own list where that scrolls, else in the page, which only a person asks for. */
function reveal(line, asked) {
  const found = items.get(line.id);
  if (!found) return;
  const list = $("lines");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  if (list.scrollHeight > list.clientHeight + 1 && getComputedStyle(list).overflowY !== "visible") {
    const top = found.item.offsetTop - list.offsetTop - list.clientHeight / 4;
    list.scrollTo({ top, behavior: calm ? "auto" : "smooth" });
  } else if (asked) found.item.scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
}

function step(rows, time, way, choose) {
  const { half, seconds } = player.at;
  const from = view.picked && rows.includes(view.picked) ? rows.indexOf(view.picked) : null;
  let next;
  if (from !== null) next = rows[from + way];
  else if (way > 0) next = rows.find((each) => each.h > half || (each.h === half && time(each) > seconds + NEAR));
  else next = rows.findLast((each) => each.h < half || (each.h === half && time(each) < seconds - 1.5));
  if (next) choose(next);
}

function visibleLines() {
  return match.lines().filter((each) => items.get(each.id)?.item.offsetParent);
}

function allEvents() {
  return match.numbers.flatMap((number) => match.halves.get(number).events);
}

// --- drawing ---

function tick() {
  requestAnimationFrame(tick);
  if (live.on && live.following) follow();
  const { half, seconds } = player.at;
  if (half === view.half && seconds === view.seconds && !view.stale) return;
  draw(half, seconds);
}

function draw(half, seconds) {
  const jumped = half !== view.half || seconds < view.seconds || seconds > view.seconds + 2.5;
  if (half !== view.half) {
    view.half = half;
    belt.build(half);
    view.stale = true;
  }
  view.seconds = seconds;
  $("clock").textContent = clockOf(seconds);
  view.end = Math.max(match.end(half), seconds, 1);
  $("played").style.left = `${(100 * seconds) / view.end}%`;
  const moment = match.at(half, seconds);
  belt.move(seconds, moment);
  const line = view.picked && view.picked.h === half && Math.abs(view.picked.at - seconds) < 0.3 ? view.picked : moment?.line || null;
  const key = `${half} ${moment?.cutoff} ${line?.id}`;
  if (key === view.key && !view.stale) return;
  view.key = key;
  view.stale = false;
  showMoment(moment, seconds);
  showCurrent(line, half, seconds, jumped);
}

function showMoment(moment, seconds) {
  const focused = document.activeElement?.closest("#moment [data-id]")?.dataset.id;
  $("moment").replaceChildren(...momentCards(match, moment, visit));
  if (focused) [...$("moment").querySelectorAll("[data-id]")].find((each) => each.dataset.id === focused)?.focus();
  showScore(moment?.step);
  belt.mark(seconds);
  drawOverview($("overview"), match, view.half, seconds, view.end);
  $("whole").setAttribute("aria-valuemax", String(Math.round(view.end)));
  $("whole").setAttribute("aria-valuenow", String(Math.round(seconds)));
  $("whole").setAttribute("aria-valuetext", `${halfName(view.half)}, ${clockOf(seconds)}`);
  $("half").hidden = match.numbers.length < 2;
  $("half").textContent = halfName(view.half);
}

function showCurrent(line, half, seconds, jumped) {
  for (const { item, line: each } of items.values()) {
    item.classList.toggle("later", each.h > half || (each.h === half && each.at > seconds + NEAR));
  }
  if (view.open?.id === line?.id && view.open !== null) return;
  const before = view.open && items.get(view.open.id);
  if (before) {
    before.item.classList.remove("current");
    before.item.querySelector(".details")?.remove();
    before.item.firstChild.setAttribute("aria-expanded", "false");
  }
  view.open = line;
  const now = line && items.get(line.id);
  if (!now) return;
  now.item.classList.add("current");
  now.item.append(lineDetails(match, line, visit));
  now.item.firstChild.setAttribute("aria-expanded", "true");
  reveal(line, false);
  if (voice.on && !jumped && player.playing) say(line);
}

function say(line) {
  const { text, visible } = match.shown(line);
  if (!visible) return;
  speechSynthesis.cancel();
  const spoken = new SpeechSynthesisUtterance(text);
  spoken.lang = "en";
  speechSynthesis.speak(spoken);
}

function showCaptions() {
  while (track.cues?.length) track.removeCue(track.cues[0]);
  view.filmed = player.film;
  if (!player.filmed) return;
  for (const [half, start] of Object.entries(data.films[player.film].halves)) {
    for (const [begin, end, line] of match.cues(Number(half))) {
      const text = match.shown(line).text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
      const cue = new VTTCue(start + begin, start + end, text.split(/\s+/).join(" "));
      cue.id = shortId(line.id);
      track.addCue(cue);
    }
  }
}

function showPlaying() {
  const playing = player.playing || (live.on && live.following);
  $("play").classList.toggle("playing", playing);
  $("play").setAttribute("aria-label", playing ? "Pause" : "Play");
  $("screen").classList.toggle("empty", !player.filmed);
  $("nofilm").hidden = player.filmed;
  if (view.filmed !== player.film) showCaptions();
}

function redraw() {
  belt.build(view.half || 1);
  $("legend").replaceChildren(...legendOf(match));
  view.stale = true;
}

// --- a match that is going on ---

function take(rows) {
  let lines = false;
  let events = false;
  let changed = false;
  for (const row of rows) {
    if (!match.add(row)) continue;
    if (row.k === "line") {
      addItem(row);
      lines = true;
    }
    if (row.k === "correction") changed = true;
    if (row.k === "event" || row.k === "line") events = true;
    if (row.k === "step") live.heard = performance.now();
  }
  if (changed) {
    view.open = null;
    showLines();
  }
  if (lines || changed) showCaptions();
  if (events || changed) redraw();
  showNotices();
  fillTotals();
  view.stale = true;
}

function follow() {
  const last = match.last;
  if (!last) return;
  if (live.waiting) {
    live.waiting = false;
    player.go(last.h, last.e);
    start();
  }
  const waited = last.kind === "half_end" ? 0 : Math.min(4, (performance.now() - live.heard) / 1000);
  const target = match.header.pace === "real" ? last.e + waited : last.e;
  if (!player.filmed) {
    player.since = null;
    player.position = { half: last.h, seconds: target };
    return;
  }
  const { half, seconds } = player.at;
  const away = half !== last.h ? Infinity : Math.abs(seconds - target);
  if (away > 3 && performance.now() - live.sought > 1500) {
    live.sought = performance.now();
    player.go(last.h, target);
  }
}

function start() {
  if (!player.filmed) return;
  video.play().catch(() => {
    video.muted = true; // a browser starts no film with sound before somebody has touched the page
    video.play().catch(() => showPlaying());
  });
}

function showLive() {
  if (!live.on) return;
  const last = match.last;
  const quiet = (performance.now() - live.heard) / 1000;
  const lag = last?.timing?.lag || 0;
  let [state, words] = ["good", "Live"];
  if (!live.connected) [state, words] = ["warn", "Reconnecting"];
  else if (!last) [state, words] = ["wait", "Waiting for the first clip"];
  else if (match.over) [state, words] = ["wait", "The match is over"];
  else if (last.kind === "half_end" && quiet > 6) [state, words] = ["wait", `${halfName(last.h)} is over`];
  else if (quiet > 15) [state, words] = ["warn", `No clip for ${duration(quiet)}`];
  else if (lag > 4) [state, words] = ["warn", `Behind by ${duration(lag)}`];
  $("live").hidden = false;
  $("live").dataset.state = state;
  if ($("livewords").textContent !== words) $("livewords").textContent = words;
  $("now").hidden = live.following || !last;
}

function connect() {
  const source = new EventSource(`rows?last=${live.last}`);
  const heard = (name, what) =>
    source.addEventListener(name, (event) => {
      live.told = performance.now();
      if (event.lastEventId) live.last = event.lastEventId;
      what(event.data === undefined ? null : JSON.parse(event.data));
    });
  live.told = performance.now();
  live.source = source;
  source.addEventListener("open", () => {
    live.connected = true;
    live.told = performance.now();
    showLive();
  });
  source.addEventListener("error", () => {
    live.connected = false;
    showLive();
    if (source.readyState === EventSource.CLOSED) setTimeout(connect, 2000);
  });
  heard("match", (told) => {
    match.header = told.header;
    data.films.splice(0, data.films.length, ...told.films);
    live.unfilmed = told.problem;
    showHeader();
    showNotices();
  });
  heard("rows", take);
  heard("problem", (text) => {
    live.problem = text;
    showNotices();
  });
  heard("alive", () => {});
  heard("another", () => location.reload());
}

/** A connection that died without a word (a machine that slept) is given up for a new one. */
function checkConnection() {
  if (live.source.readyState !== EventSource.OPEN || performance.now() - live.told < 25000) return;
  live.source.close();
  live.connected = false;
  connect();
}

function goLive() {
  if (!live.on) return;
  live.following = true;
  live.sought = 0;
  start();
  showLive();
  showPlaying();
}

// --- hands ---

function fillTotals() {
  if ($("totals").open) $("totals").lastElementChild.replaceChildren(...totalsOf(match, visit));
}

function toggle() {
  if (live.on && live.following) {
    live.following = false;
    player.stop();
  } else player.toggle();
  showLive();
  showPlaying();
}

function pressed(id, on) {
  $(id).setAttribute("aria-pressed", String(on));
}

const actions = {
  captions() {
    track.mode = track.mode === "showing" ? "hidden" : "showing";
    pressed("captions", track.mode === "showing");
  },
  speech() {
    voice.on = !voice.on;
    if (!voice.on) speechSynthesis.cancel();
    pressed("speech", voice.on);
  },
  theme() {
    setTheme(isDark() ? "light" : "dark");
  },
  help() {
    const keys = $("keys");
    if (keys.open) keys.close();
    else keys.showModal();
    $("help").setAttribute("aria-expanded", String(keys.open));
  },
};

const isDark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

function setTheme(name) {
  document.documentElement.dataset.theme = name;
  try {
    localStorage.setItem("theme", name);
  } catch {
    // a page without storage starts as the system has it
  }
  showTheme();
}

function showTheme() {
  $("theme").textContent = isDark() ? "Light" : "Dark";
  view.stale = true;
}

const KEYS = {
  " ": toggle,
  ArrowLeft: () => visit(player.at.half, player.at.seconds - 4),
  ArrowRight: () => visit(player.at.half, Math.min(view.end, player.at.seconds + 4)),
  j: () => step(visibleLines(), (each) => each.at, 1, (each) => visit(each.h, each.at, each)),
  k: () => step(visibleLines(), (each) => each.at, -1, (each) => visit(each.h, each.at, each)),
  "[": () => step(allEvents(), (each) => each.s, -1, (each) => visit(each.h, each.s)),
  "]": () => step(allEvents(), (each) => each.s, 1, (each) => visit(each.h, each.s)),
  c: () => actions.captions(),
  s: () => actions.speech(),
  t: () => actions.theme(),
  l: goLive,
  "?": () => actions.help(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const onButton = event.target.closest("button, summary, a") && event.key === " ";
  if (onButton || ($("keys").open && event.key !== "?")) return;
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

for (const name of Object.keys(actions)) $(name).addEventListener("click", actions[name]);
$("keys").addEventListener("close", () => $("help").setAttribute("aria-expanded", "false"));
$("keys").addEventListener("click", (event) => event.target === $("keys") && $("keys").close());
$("play").addEventListener("click", toggle);
$("now").addEventListener("click", goLive);
video.addEventListener("click", toggle);
$("half").addEventListener("click", () => {
  const all = match.numbers;
  visit(all[(all.indexOf(view.half) + 1) % all.length], 0);
});
$("totals").addEventListener("toggle", fillTotals);

const whole = $("whole");
const seek = (event) => {
  const box = whole.getBoundingClientRect();
  const share = Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
  visit(view.half, share * view.end);
};
whole.addEventListener("pointerdown", (event) => {
  whole.setPointerCapture(event.pointerId);
  seek(event);
});
whole.addEventListener("pointermove", (event) => whole.hasPointerCapture(event.pointerId) && seek(event));

player.addEventListener("moved", showPlaying);
player.addEventListener("lost", (event) => {
  const name = event.detail.src.startsWith("data:") ? "The film in this page" : decodeURIComponent(event.detail.src);
  $("nofilm").textContent = `${name} cannot be played here. The timeline works without it.`;
  const { half, seconds } = player.position;
  player.go(half, seconds);
});
new ResizeObserver(redraw).observe($("ribbon"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showTheme);

// --- begin ---

try {
  const kept = localStorage.getItem("theme");
  if (kept === "dark" || kept === "light") document.documentElement.dataset.theme = kept;
} catch {
  // as the system has it
}
track.mode = "showing";
$("speech").hidden = !("speechSynthesis" in window);
match.header = data.header;
data.rows.forEach((row) => match.add(row));
showHeader();
showTheme();
showFilters();
showLines();
showNotices();
redraw();
player.go(match.numbers[0] || 1, 0);
if (live.on) {
  connect();
  setInterval(() => {
    checkConnection();
    showLive();
  }, 1000);
  showLive();
}
showPlaying();
tick();
