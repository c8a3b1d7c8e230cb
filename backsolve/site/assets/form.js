// What the forms of the site share: numbers in people's units, sliders, chips and models to choose, and the state in the address.
"use strict";

(function () {
  const { reading } = backsolve;

  const rounded = (value, digits) => Number(value.toPrecision(digits));

  /** The unit in which people write a value [SI] of a quantity: its place among `row.units`, each (from which value on, size, name). */
  function unitOf(row, value, digits = 4) {
    const found = row.units.findIndex(([start]) => Math.abs(rounded(value, digits)) >= start);
    return found < 0 ? row.units.length - 1 : found;
  }

  /** So many digits, in full where that is not long. */
  function figure(value, digits) {
    const size = Math.abs(value), number = rounded(value, digits);
    if (size === 0 || !Number.isFinite(size)) return String(value);
    if (size > 1e-9 && size < 1e15) return number.toFixed(Math.min(Math.max(digits - 1 - Math.floor(Math.log10(Math.abs(number))), 0), 20)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
    return byPower(number);
  }
  function byPower(number) {
    const [plain, power] = number.toExponential().split("e");
    return `${plain}e${power[0]}${power.slice(1).padStart(2, "0")}`;
  }

  /** A value as messages of the command line have it: six digits, and a power of ten where it is far from one. */
  const general = (value) => (value && !(1e-4 <= Math.abs(rounded(value, 6)) && Math.abs(rounded(value, 6)) < 1e6) ? byPower(rounded(value, 6)) : String(rounded(value, 6)));

  /** A value [SI] in the unit people use, as the command line prints it. */
  function show(row, value, digits = 4) {
    if (value === Infinity) return "unbounded";
    const [, size, unit] = row.units[unitOf(row, value, digits)], number = figure(value / size, digits);
    const [suffix, per] = unit.split(" USD");
    if (per !== undefined) return `$${number}${suffix}${per}`;
    return number + (number === "1" && unit === " tokens" ? " token" : unit);
  }

  /** Values as the command line takes them, in people's units, with all digits that count. */
  const typed = (names, values, quantities) => names.map((name) => `'${name}=${show(quantities[name], values[name], 12)}'`).join(" ");

  /** What is typed into a field, in SI: a number in the unit chosen beside it, or with a unit or suffix of its own; or what is the matter. */
  function read(row, text, place) {
    const found = reading.read(row, text, place === undefined ? 1 : row.units[place][1]);
    return "unreadable" in found ? { fault: `${found.unreadable}; write e.g. ${show(row, Math.sqrt(row.low * row.high), 2)}` } : withinDomain(row, found.value, `${text}`);
  }

  /** What an address asks for, in SI: a link may lead beyond the values of practice, but not to the ends of double precision. A bare price that SI makes absurd is as people write it. */
  function readAsked(row, text) {
    const found = read(row, text), usual = "fault" in found && row.unit.includes("USD") ? read(row, text, 0) : found;
    return "fault" in usual ? read({ ...row, least: 1e-60, most: 1e60 }, text) : usual;
  }

  /** The value, or what is allowed instead. */
  function withinDomain(row, value, text = "") {
    if (!Number.isFinite(value)) return { fault: `= ${value > 0 ? "inf" : "-inf"}: must be a finite number ${row.domain}` };
    const beyond = value > (row.ceiling ?? Infinity), given = general(value), percent = beyond && value <= 100 && !text.includes("%") ? `; percent are written ${given}%` : "";
    if (value < (row.floor ?? (row.signed ? -Infinity : 0)) || beyond || (value === 0 && !row.zero)) return { fault: `= ${given}: must be ${row.domain}${percent}` };
    if (row.undivided && Math.abs(value - Math.round(value)) > 1e-9 * value) return { fault: `= ${given}: must be a whole number: write ${[Math.floor(value), Math.floor(value) + 1].filter(Boolean).join(" or ")}` };
    const met = `Values in practice are from ${show(row, row.low)} to ${show(row, row.high)}`;
    return value && !(row.least <= value && value <= row.most) ? { fault: `= ${given}${row.unit === "1" ? "" : ` ${row.unit}`}: absurd. ${met}. Is a suffix or the unit wrong?` } : { value };
  }

  /** A scale from 0 to 1 over an interval: by ratios where it spans many, else even. */
  function scaleOf(low, high) {
    const ratios = low > 0 && high / low > 20;
    if (!ratios) return { at: (share) => low + share * (high - low), of: (value) => (value - low) / (high - low) };
    return { at: (share) => low * (high / low) ** share, of: (value) => Math.log(value / low) / Math.log(high / low) };
  }

  function element(tag, attributes = {}, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }

  /** Mathematics that the site itself has printed. */
  function typeset(...inner) {
    const made = document.createElement("template");
    made.innerHTML = `<math>${inner.join("")}</math>`;
    return made.content;
  }

  /** A choice with its label; `options` are texts or pairs of a value and a text. */
  function choice(label, options, chosen, onchange) {
    const made = options.map((one) => (Array.isArray(one) ? one : [one, one])).map(([value, text]) => element("option", { value, selected: value === chosen }, text));
    const select = element("select", { "aria-label": label, onchange: () => onchange(select.value) }, ...made);
    return { root: element("label", { class: "solver-choice" }, element("span", {}, label), select), select };
  }

  /** A button that is on or off. */
  function toggle(label, isOn, onclick) {
    const made = element("button", { type: "button", onclick }, label);
    return { root: made, tell: () => made.setAttribute("aria-pressed", String(isOn())) };
  }

  const STEPS = 1000;
  let knobs = 0;

  /**
   * A quantity with a slider and its value, which can be typed with a unit; a bare number is in the unit that was shown last.
   * `share` and `move` are the place of the slider from 0 to 1; `type` takes a text in SI, as an address has it.
   */
  function knob(row, title, onchange, [low, high] = [row.low || 0, row.high], symbol = "") {
    const scale = scaleOf(low, high), id = `knob-${(knobs += 1)}`;
    const fault = element("p", { id, class: "solver-fault", role: "alert" }), share = element("span", { class: "knob-moves" });
    const practice = `${row.unit === "1" ? "" : `[${row.unit}] `}values in practice: ${show(row, row.low)} to ${show(row, row.high)}`;
    const text = element("input", { type: "text", title: practice, "aria-label": title, autocomplete: "off", spellcheck: "false", "aria-describedby": id, oninput: typed, onchange: write });
    const slider = element("input", { type: "range", min: 0, max: STEPS, "aria-label": `${title}, slider`, oninput: () => move(Number(slider.value) / STEPS) });
    const label = element("span", { class: "knob-name", "aria-hidden": "true" }, symbol ? typeset(symbol) : null, symbol ? ` ${title}` : title);
    const self = { root: element("div", { class: "knob" }, label, share, text, slider, fault), title, value: null, wrong: false, set, move, moves, share: shareOf, type };

    function take(found) {
      self.wrong = "fault" in found;
      fault.textContent = self.wrong ? `${title} ${found.fault}` : "";
      text.setAttribute("aria-invalid", String(self.wrong));
      if (!self.wrong) self.value = found.value;
      place();
    }
    function typed() {
      take(row.optional && !text.value.trim() ? { value: null } : read(row, text.value, bareUnit()));
      onchange(self);
    }
    /** The unit of a bare number: the one that is shown, but for the suffixes of counts. */
    function bareUnit() {
      const at = self.value === null ? 0 : unitOf(row, self.value);
      return /^[kMBT]/.test(row.units[at][2]) ? undefined : at;
    }
    function type(asked) {
      text.value = asked;
      take(row.optional && !asked ? { value: null } : readAsked(row, asked));
      write();
    }
    function move(to) {
      const value = rounded(scale.at(Math.min(Math.max(to, 0), 1)), 3), least = row.whole ? 1 : Math.max(low, row.least);
      set(Math.min(Math.max(row.whole ? Math.round(value) : value, least), row.most, row.ceiling));
      onchange(self);
    }
    function set(value) {
      take({ value });
      write();
    }
    function write() {
      if (!self.wrong) text.value = self.value === null ? "" : show(row, self.value, 6);
    }
    function place() {
      slider.value = String(Math.round(STEPS * shareOf()));
      slider.setAttribute("aria-valuetext", self.value === null ? "none" : show(row, self.value));
    }
    function shareOf() {
      return self.value === null ? 0 : Math.min(Math.max(scale.of(self.value), 0), 1);
    }
    /** By how many per cent the answer moves with one per cent of it. */
    function moves(elasticity) {
      const there = Math.abs(elasticity) >= 5e-4;
      share.textContent = there ? `${elasticity > 0 ? "+" : "−"}${figure(Math.abs(elasticity), 2)} %` : "";
      share.title = there ? `1 % more of it moves the answer by ${figure(elasticity, 3)} %` : "";
    }
    return self;
  }

  /** Puts values into knobs, or what a link asks for instead, and has the values as the knobs have them. */
  function fill(knobs, values, texts = new Map()) {
    for (const [name, knob] of Object.entries(knobs)) {
      knob.set(values[name]);
      if (texts.has(name)) knob.type(texts.get(name));
      values[name] = knob.value;
    }
  }

  const kindOf = (type) => `${type.bytes_per_weight}${"attention_rate_ratio" in type ? " apart" : ""}`;

  /** What a chip in a data type and a model set together, and the equations that lead on from there; either may be "", not both. */
  function presetOf(presets, chip, dtype, model) {
    const ofChip = presets.chips[chip], type = ofChip ? ofChip.types[dtype] : {}, ofModel = presets.models[model];
    const [place, own] = ofModel.kinds[ofChip ? kindOf(type) : ""], way = presets.ways[place];
    const legs = way.legs.map((one) => presets.legs[one]), made = new Set(legs.map(({ makes }) => makes));
    return {
      givens: { ...(ofChip ? ofChip.givens : {}), ...type, ...ofModel.givens, ...own },
      defaults: Object.fromEntries(Object.entries(presets.defaults).filter(([name]) => !made.has(name))),
      asked: way.asked,
      legs,
    };
  }

  /** Pairs of a name and a text that the address asks for; an anchor asks for nothing. */
  const asked = () => (location.hash.includes("=") ? [...new URLSearchParams(location.hash.slice(1))] : []);

  /** Pairs as they stand behind #, with the signs that people read left as they are. */
  function fragment(pairs) {
    const readable = (text) => encodeURIComponent(text).replace(/%(?:2F|3A|2C|24)/g, decodeURIComponent).replaceAll("%20", "+");
    return pairs.map((pair) => pair.map((text) => readable(String(text))).join("=")).join("&");
  }

  /** The shortest text of a value that reads back as it: with a suffix or a unit where that is exact. */
  function typedFor(row, value) {
    const [, size, unit] = row.units[unitOf(row, value, 12)], whole = show(row, value, 12), [suffix] = unit.trim().split(" ");
    const short = `${figure(value / size, 12)}${/^[kMBT]?$/.test(suffix) ? suffix : ""}`;
    return [short, whole.replaceAll(" ", ""), whole].find((text) => read(row, text).value === value) ?? String(value);
  }

  /** Of the pairs that differ from the usual: a place for what a link cannot have, what follows a change by the reader, and a button that copies the address. */
  function shared(pairs, draw) {
    const notice = element("p", { class: "solver-fault", role: "alert" }), here = () => (pairs().length ? `#${fragment(pairs())}` : "");
    let writing = 0;
    function moved() {
      notice.textContent = "";
      draw();
      clearTimeout(writing); // the address follows once nothing has moved for a moment
      writing = setTimeout(() => history.replaceState(null, "", here() || location.pathname + location.search), 250);
    }
    return { notice, moved, link: () => backsolve.copy.button("Copy link", () => location.href.split("#")[0] + here()) };
  }

  /** Shows what the address asks for, now and when it changes, then with `place` in view, and draws anew where the page has another width or other colours. */
  function live(fromAddress, draw, place = null) {
    let width = innerWidth;
    fromAddress();
    addEventListener("hashchange", () => { if (asked().length) { fromAddress(); place?.scrollIntoView(); } });
    addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; draw(); } });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  }

  const MOST_SAID = 40; // letters of a name or a value that a link asks for
  /** What is said of pairs that a page cannot take. */
  const refused = (pairs) => (pairs.length ? `The link asks for something that this page does not have: ${pairs.map((pair) => pair.map((text) => text.slice(0, MOST_SAID)).join("=")).join(", ")}.` : "");

  backsolve.form = { asked, choice, element, figure, fill, fragment, knob, live, presetOf, read, readAsked, refused, shared, show, toggle, typed, typedFor, typeset, unitOf, withinDomain };
})();
