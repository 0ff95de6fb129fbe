// The two timelines: the whole half on a canvas, and the belt of the last minutes, whose parts can be clicked.

function make(tag, options = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(options)) {
    if (name === "class") node.className = value;
    else if (name === "on") for (const [event, what] of Object.entries(value)) node.addEventListener(event, what);
    else if (name === "data") Object.assign(node.dataset, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((each) => each !== null && each !== undefined && each !== false));
  return node;
}

/** A colour of the style sheet as a canvas takes it: the one of the theme that is shown. */
function colour(name) {
  const probe = document.getElementById("overview");
  probe.style.color = `var(${name})`;
  return getComputedStyle(probe).color;
}

/** The half as a whole: what happened as blocks, what was said as marks above them. */
function drawOverview(canvas, match, number, known, end) {
  const ratio = window.devicePixelRatio || 1;
  const { clientWidth: width, clientHeight: height } = canvas;
  if (!width) return;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const half = match.halves.get(number);
  const top = Math.round(height * 0.45);
  const across = (seconds) => (seconds / Math.max(1, end)) * width;
  context.fillStyle = colour("--rail");
  context.fillRect(0, top, width, height - top);
  if (!half) return;
  for (const each of half.events) {
    const start = across(each.s);
    const size = Math.max(1, across(each.e) - start - (across(24) > 12 ? 1 : 0.3));
    context.globalAlpha = each.at <= known + NEAR ? 1 : 0.38;
    context.fillStyle = colour(`--${each.type}`);
    const high = each.actions.includes("Goal") ? top + 2 : 0;
    context.fillRect(start, top - high, high ? Math.max(3, size) : size, height - top + high);
  }
  for (const each of match.notes) {
    if (each.h !== number || each.kind !== "gap") continue;
    context.globalAlpha = 1;
    context.fillStyle = colour("--warn");
    context.fillRect(across(each.s), height - 3, Math.max(2, across(each.e - each.s)), 3);
  }
  for (const each of half.lines) {
    const { visible } = match.shown(each);
    context.globalAlpha = each.at <= known + NEAR ? 1 : 0.38;
    context.fillStyle = context.strokeStyle = colour(`--${each.mode}`);
    context.beginPath();
    context.arc(Math.min(width - 4, Math.max(4, across(each.at))), top / 2, 3, 0, 7);
    if (visible) context.fill();
    else context.stroke();
  }
  context.globalAlpha = 1;
}

/** The belt: seconds times a scale, moved under a fixed mark. */
class Belt {
  constructor(belt, ribbon, match, chosen) {
    Object.assign(this, { belt, ribbon, match, chosen });
    this.half = 0;
    this.nodes = [];
    this.width = 0;
  }

  get back() {
    return this.width < 560 ? 75 : 120;
  }

  get ahead() {
    return this.width < 560 ? 20 : 30;
  }

  /** Makes the parts of a half anew; they are few hundred, and this is rare. */
  build(number) {
    this.half = number;
    this.width = this.ribbon.clientWidth;
    this.scale = this.width / (this.back + this.ahead);
    this.ribbon.style.setProperty("--now", `${this.back * this.scale}px`);
    this.nodes = [];
    this.belt.replaceChildren();
    const half = this.match.halves.get(number);
    if (!half) return;
    half.events.forEach((each) => this.event(each));
    half.lines.forEach((each) => this.line(each));
    this.active = make("span", { class: "block active", "aria-hidden": "true" });
    this.belt.append(this.active);
  }

  /** One more row of the half that stands there. */
  add(row) {
    if (row.h !== this.half) return;
    if (row.k === "event") this.event(row);
    if (row.k === "line") this.line(row);
  }

  event(each) {
    const label = eventName(each);
    const side = sideName(each.side, this.match.header);
    const told = `${clockOf(each.s)} to ${clockOf(each.e)}: ${label}${side ? `, ${side}` : ""}, ${CLOSED_BY[each.by]}`;
    const node = make(
      "button",
      {
        type: "button",
        class: `block ${each.by}${each.actions.includes("Goal") ? " goal" : ""}`,
        title: told,
        "aria-label": told,
        data: { id: each.id, type: each.type },
        on: { click: () => this.chosen(each.h, each.s, each) },
      },
      make("span", {}, each.actions.length ? label : ""),
    );
    node.style.left = `${each.s * this.scale}px`;
    node.style.width = `${Math.max(2, (each.e - each.s) * this.scale - 2)}px`;
    this.put(node, each.at);
  }

  line(each) {
    const { text, visible } = this.match.shown(each);
    const node = make("button", {
      type: "button",
      class: `said${visible ? "" : " held"}`,
      title: `${clockOf(each.at)} ${text}`,
      "aria-label": `${clockOf(each.at)}, ${MODES[each.mode]}: ${text}`,
      data: { id: each.id, mode: each.mode },
      on: { click: () => this.chosen(each.h, each.at, each) },
    });
    node.style.left = `${each.at * this.scale}px`;
    this.put(node, each.at);
  }

  put(node, known) {
    this.nodes.push({ node, known });
    this.belt.append(node);
  }

  /** Sets apart what was not known yet. */
  mark(seconds) {
    for (const each of this.nodes) each.node.classList.toggle("later", each.known > seconds + NEAR);
  }

  move(seconds, moment) {
    if (!this.scale) return;
    this.belt.style.transform = `translateX(${(this.back - seconds) * this.scale}px)`;
    if (!this.active) return;
    const start = moment?.step?.from;
    const open = start !== null && start !== undefined && !moment.over;
    this.active.hidden = !open;
    if (open) {
      this.active.style.left = `${start * this.scale}px`;
      this.active.style.width = `${Math.max(0, seconds - start) * this.scale}px`;
    }
  }
}

function legendOf(match) {
  const seen = new Set();
  for (const half of match.halves.values()) for (const each of half.events) seen.add(each.type);
  return Object.entries(TYPES)
    .filter(([type]) => seen.has(type))
    .map(([type, words]) => make("span", {}, make("i", { data: { type } }), words));
}
