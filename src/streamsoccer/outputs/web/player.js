// The film, or a clock of our own where there is none: the page knows one position, half and second.

class Player extends EventTarget {
  constructor(video, films, match) {
    super();
    this.video = video;
    this.films = films;
    this.match = match;
    this.film = -1;
    this.position = { half: 1, seconds: 0 };
    this.since = null; // when our own clock was started, where no film plays
    this.wanted = null;
    for (const name of ["play", "pause", "ended"]) video.addEventListener(name, () => this.tell());
    video.addEventListener("timeupdate", () => this.tell());
    video.addEventListener("seeked", () => this.tell());
    video.addEventListener("loadedmetadata", () => {
      if (this.wanted !== null) video.currentTime = this.wanted;
      this.wanted = null;
      this.tell();
    });
    video.addEventListener("error", () => {
      if (this.film < 0) return;
      const lost = this.films[this.film];
      lost.lost = true;
      this.film = -1;
      this.dispatchEvent(new CustomEvent("lost", { detail: lost }));
    });
  }

  tell() {
    this.dispatchEvent(new Event("moved"));
  }

  /** Which film holds a half: its place, and the second at which the half starts in it. */
  place(half) {
    const index = this.films.findIndex((each) => !each.lost && half in each.halves);
    return index < 0 ? null : { index, start: this.films[index].halves[half] };
  }

  get filmed() {
    return this.film >= 0;
  }

  get playing() {
    return this.filmed ? !this.video.paused && !this.video.ended : this.since !== null;
  }

  /** Where we are; a film that runs on past a half's start is in that half. */
  get at() {
    if (this.filmed) {
      const now = this.wanted ?? this.video.currentTime;
      const starts = Object.entries(this.films[this.film].halves).sort((a, b) => a[1] - b[1]);
      const [half, start] = starts.findLast((each) => each[1] <= now + NEAR) || starts[0];
      this.position = { half: Number(half), seconds: Math.max(0, now - start) };
    } else if (this.since !== null) {
      const end = this.match.end(this.position.half);
      const seconds = Math.min(end, this.position.seconds + (performance.now() - this.since) / 1000);
      this.position = { half: this.position.half, seconds };
      this.since = seconds >= end ? null : performance.now();
    }
    return this.position;
  }

  go(half, seconds) {
    const running = this.playing;
    const place = this.place(half);
    this.position = { half, seconds: Math.max(0, seconds) };
    if (place === null) {
      if (this.filmed) this.video.pause();
      this.film = -1;
      this.since = running ? performance.now() : null;
    } else {
      this.since = null;
      const second = place.start + this.position.seconds;
      if (place.index !== this.film) {
        this.film = place.index;
        this.wanted = second;
        this.video.src = linkOf(this.films[place.index]);
        if (running) this.start();
      } else if (this.video.readyState === 0) this.wanted = second;
      else this.video.currentTime = second;
    }
    this.tell();
  }

  start() {
    if (this.filmed) this.video.play().catch(() => this.tell());
    else this.since = performance.now();
    this.tell();
  }

  stop() {
    const { half, seconds } = this.at;
    if (this.filmed) this.video.pause();
    else {
      this.since = null;
      this.position = { half, seconds };
    }
    this.tell();
  }

  toggle() {
    if (this.playing) this.stop();
    else this.start();
  }
}

/** Where the browser gets a film: one that stands in the page becomes a file in memory, in which it can seek. */
function linkOf(film) {
  if (film.src.startsWith("data:") && !film.link) {
    const comma = film.src.indexOf(",");
    const text = atob(film.src.slice(comma + 1));
    const bytes = new Uint8Array(text.length);
    for (let place = 0; place < bytes.length; place++) bytes[place] = text.charCodeAt(place);
    film.link = URL.createObjectURL(new Blob([bytes], { type: film.src.slice(5, comma).split(";")[0] }));
  }
  return film.link || film.src;
}
