// What the forms of the site share: numbers in people's units, fields with a slider, chips and models to choose, curves.
"use strict";

(function (root) {
  const { reading } = typeof module === "undefined" ? root.backsolve : { reading: require("./units.js") };

  // -- numbers in people's units -------------------------------------------------------------------------------------------------

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
  const typed = (names, values, quantities, spans = {}) => names.map((name) => `'${name}=${(spans[name] || [values[name]]).map((value) => show(quantities[name], value, 12)).join("..")}'`).join(" ");

  /** What is typed into a field, in SI: a number in the unit chosen beside it, or with a unit or suffix of its own; or what is the matter. */
  function read(row, text, place) {
    const found = reading.read(row, text, place === undefined ? 1 : row.units[place][1]);
    return "unreadable" in found ? { fault: `${found.unreadable}; write e.g. ${show(row, Math.sqrt(row.low * row.high), 2)}` } : withinDomain(row, found.value);
  }

  const SWEEP = /:\s*(log|lin)/i, PLUS_MINUS = /±|\+\/?-/;

  /** What stands behind the last digit. */
  const unitBehind = (text) => /[^0-9._]*$/.exec(text.trim())[0];

  /** What is typed where a range may be: a number; any value between two, as 16..64 or 40±5; or what is the matter. */
  function readSpan(row, text, place) {
    if (text.includes("..")) return between(row, text, place);
    if (PLUS_MINUS.test(text)) return around(row, text, place);
    if (text.includes(";")) return { fault: "takes a number or a range as 16..64 here; lists are for the command line" };
    return read(row, text, place);
  }

  function between(row, text, place) {
    if (SWEEP.test(text)) return { fault: "takes a number or a range as 16..64 here; sweeps are for the command line" };
    const cut = text.indexOf(".."), [first, last] = [text.slice(0, cut).trim(), text.slice(cut + 2).trim()];
    if (last.startsWith(".")) return { fault: "has three dots or more: a range is low..high with two, as in 0.1..5 or 0.1..0.5" };
    const unit = unitBehind(last).trim(), bare = first && !unitBehind(first).trim();
    const suffixed = bare && unit in root.backsolve.units.suffixes && !("fault" in read(row, first, place)); // a mere suffix is taken on only where it has to be
    return ordered(row, read(row, bare && !suffixed ? first + unitBehind(last) : first, place), read(row, last, place), text);
  }
  function ordered(row, low, high, text) {
    const wrong = [low, high].find((one) => "fault" in one);
    if (wrong) return wrong;
    if (low.value >= high.value) return { fault: `= ${text.trim()}: the first value must be below the second; write ${text.split("..").map((end) => end.trim()).reverse().join("..")}` };
    return { value: (low.value + high.value) / 2, span: [low.value, high.value] };
  }

  /** x±y: y in the unit of x, or a percentage of x; a unit that only one of them has is that of both. */
  function around(row, text, place) {
    const [first, last] = text.split(PLUS_MINUS, 2).map((part) => part.trim()), [unit, of] = [first, last].map(unitBehind);
    const share = of.trim() === "%" && unit.trim() !== "%", middle = read(row, share || unit ? first : first + of, place);
    if ("fault" in middle) return middle;
    const percent = Number(last.replace("%", ""));
    if (share && !(percent > 0 && percent < 100)) return { fault: "takes a percentage above 0 and below 100 after ±, as in 10%" };
    const half = share ? { value: (middle.value * percent) / 100 } : read({ ...row, floor: 0, least: 0, undivided: false }, of ? last : last + unit, place);
    if ("fault" in half) return half;
    return ordered(row, withinDomain(row, middle.value - half.value), withinDomain(row, middle.value + half.value), text);
  }

  const isWhole = (value) => Math.abs(value - Math.round(value)) <= 1e-9 * value;

  /** The value, or what is allowed instead. */
  function withinDomain(row, value) {
    if (!Number.isFinite(value)) return { fault: `= ${value > 0 ? "inf" : "-inf"}: must be a finite number ${row.domain}` };
    const beyond = value > (row.ceiling ?? Infinity), given = general(value), percent = beyond && value <= 100 ? `; percent are written ${given}%` : "";
    if (value < (row.floor ?? (row.signed ? -Infinity : 0)) || beyond || (value === 0 && !row.zero)) return { fault: `= ${given}: must be ${row.domain}${percent}` };
    if (row.undivided && !isWhole(value)) return { fault: `= ${given}: must be a whole number: write ${[Math.floor(value), Math.floor(value) + 1].filter(Boolean).join(" or ")}` };
    const met = `values met in practice run from ${show(row, row.low)} to ${show(row, row.high)}`;
    return value && !(row.least <= value && value <= row.most) ? { fault: `= ${given}${row.unit === "1" ? "" : ` ${row.unit}`}: absurd; ${met}, is a suffix or the unit wrong?` } : { value };
  }

  // -- places on a scale ---------------------------------------------------------------------------------------------------------

  const byRatios = (low, high) => low > 0 && high / low > 20;

  /** A scale from 0 to 1 over an interval: by ratios where it spans many, else even. */
  function scaleOf(low, high) {
    if (!byRatios(low, high)) return { low, high, ratios: false, at: (share) => low + share * (high - low), of: (value) => (value - low) / (high - low) };
    return { low, high, ratios: true, at: (share) => low * (high / low) ** share, of: (value) => Math.log(value / low) / Math.log(high / low) };
  }

  // -- elements ------------------------------------------------------------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";

  function fill(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value === true ? "" : String(value));
    }
    made.append(...children.filter((child) => child !== null));
    return made;
  }
  const element = (tag, attributes = {}, ...children) => fill(document.createElement(tag), attributes, children);
  const drawn = (tag, attributes = {}, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

  /** Mathematics that the site itself has printed. */
  function typeset(...inner) {
    const made = document.createElement("template");
    made.innerHTML = `<math>${inner.join("")}</math>`;
    return made.content;
  }

  /** A choice with its label; `options` are texts or pairs of a value and a text. */
  function choice(label, options, chosen, onchange) {
    const select = element("select", { "aria-label": label, onchange: () => onchange(select.value) }, ...options.map((one) => {
      const [value, text] = Array.isArray(one) ? one : [one, one];
      return element("option", { value, selected: value === chosen }, text);
    }));
    return { root: element("label", { class: "solver-choice" }, element("span", {}, label), select), select };
  }

  const STEPS = 1000;
  let fields = 0;

  /** A slider with its value, which can be typed with a unit; a bare number is in the unit that is shown. `share` and `move` are the place from 0 to 1. */
  function knob(title, row, onchange, [low, high] = [row.low, row.high]) {
    const scale = scaleOf(low, high), id = `knob-${(fields += 1)}`, fault = element("p", { id, class: "solver-fault", role: "alert" });
    const typed = element("input", { type: "text", "aria-label": title, autocomplete: "off", spellcheck: "false", "aria-describedby": id, onchange: () => take(read(row, typed.value, unitOf(row, self.value))) });
    const slider = element("input", { type: "range", min: 0, max: STEPS, "aria-label": `${title}, slider`, oninput: () => self.move(Number(slider.value) / STEPS) });
    const rootOf = element("div", { class: "knob" }, element("span", { "aria-hidden": "true" }, title), typed, slider, fault);
    const self = { root: rootOf, value: null, set, move, place: () => rootOf, share: () => Math.min(Math.max(scale.of(self.value), 0), 1) };
    function take(found) {
      fault.textContent = "fault" in found ? `${title} ${found.fault}` : "";
      typed.setAttribute("aria-invalid", String("fault" in found));
      if ("value" in found) onchange(found.value);
    }
    function move(share) {
      const value = rounded(scale.at(Math.min(Math.max(share, 0), 1)), 2), least = Math.max(low, row.floor);
      take({ value: Math.min(Math.max(row.whole ? Math.round(value) : value, least), row.ceiling) });
    }
    function set(value) {
      self.value = value;
      typed.value = show(row, value);
      slider.value = String(Math.round(STEPS * self.share()));
      slider.setAttribute("aria-valuetext", typed.value);
      take({});
    }
    return self;
  }

  /** A quantity that is given: a number or, with `reading` of ranges, a range, its unit, a slider, and room for what is the matter and how much it moves the answer. */
  function field(name, row, onchange, title = name.replaceAll("_", " "), reading = read) {
    const id = `field-${(fields += 1)}`, scale = scaleOf(row.low || 0, row.high);
    const number = element("input", { id, type: "text", "aria-label": title, inputmode: reading === read ? "decimal" : "text", autocomplete: "off", spellcheck: "false", "aria-describedby": `${id}-fault`, oninput: typed });
    const units = element("select", { "aria-label": `unit of ${title}`, onchange: typed },
      ...row.units.map(([, , unit], place) => element("option", { value: place }, unit.trim() || (row.units.length > 1 ? "×1" : "-"))));
    const slider = element("input", { type: "range", min: 0, max: STEPS, step: 1, "aria-label": `${title}, slider`, oninput: moved });
    const fault = element("p", { id: `${id}-fault`, class: "solver-fault", role: "alert" });
    const bar = element("span", { class: "solver-bar" }), share = element("span", { class: "solver-share" });
    const rootOf = element("div", { class: "solver-field" },
      element("label", { for: id }, typeset(row.math), " ", element("span", {}, title)),
      element("span", { class: "solver-number" }, number, row.units.length > 1 || row.units[0][2] ? units : null),
      slider, element("span", { class: "solver-moves" }, bar, share), fault);
    const self = { root: rootOf, name, value: null, span: null, set, moves, wrong: false };

    function take(found) {
      self.wrong = "fault" in found;
      fault.textContent = self.wrong ? `${title} ${found.fault}` : "";
      number.setAttribute("aria-invalid", String(self.wrong));
      if (self.wrong) { onchange(self); return; }
      self.value = found.value;
      self.span = found.span || null;
      place();
      onchange(self);
    }
    function place() {
      if (self.value === null) { slider.value = 0; slider.setAttribute("aria-valuetext", "none"); return; }
      const share = scale.of(self.value);
      slider.value = Math.round(STEPS * Math.min(Math.max(share, 0), 1));
      slider.setAttribute("aria-valuetext", (self.span || [self.value]).map((value) => show(row, value)).join(" to "));
    }
    function write() {
      if (self.value === null) { number.value = ""; return; }
      const at = unitOf(row, self.value);
      units.value = String(at);
      number.value = (self.span || [self.value]).map((value) => figure(value / row.units[at][1], 6)).join("..");
    }
    function typed() { take(row.optional && !number.value.trim() ? { value: null } : reading(row, number.value, Number(units.value) || 0)); }
    function moved() {
      const value = rounded(scale.at(Number(slider.value) / STEPS), 3), least = row.whole ? 1 : row.least;
      set(Math.min(Math.max(row.whole ? Math.round(value) : value, least), row.most));
      onchange(self);
    }
    function set(value, span = null) {
      self.value = value;
      self.span = span;
      self.wrong = false;
      fault.textContent = "";
      number.setAttribute("aria-invalid", "false");
      write();
      place();
    }
    /** By how many per cent the answer moves with one per cent of it. */
    function moves(elasticity) {
      const there = Number.isFinite(elasticity) && Math.abs(elasticity) >= 5e-4;
      bar.style.width = there ? `${Math.min(Math.abs(elasticity), 2) * 50}%` : "0";
      bar.className = `solver-bar${elasticity < 0 ? " solver-down" : ""}`;
      share.textContent = there ? `${elasticity > 0 ? "+" : "−"}${figure(Math.abs(elasticity), 2)}` : "";
      share.title = there ? `1 % more of it moves the answer by ${figure(elasticity, 3)} %` : "";
    }
    return self;
  }

  // -- chips and models ----------------------------------------------------------------------------------------------------------

  const kindOf = (type) => `${type.bytes_per_weight}${"attention_rate_ratio" in type ? " apart" : ""}`;

  /** What a chip in a data type and a model set together, and the equations that lead on from there; either may be "", not both. */
  function presetOf(presets, chip, dtype, model) {
    const ofChip = presets.chips[chip], type = ofChip ? ofChip.types[dtype] : {}, ofModel = presets.models[model];
    const [place, own] = (ofModel ? presets.kinds[ofModel.kinds] : presets.alone)[ofChip ? kindOf(type) : ""], way = presets.ways[place];
    const legs = way.legs.map((one) => presets.legs[one]), made = new Set(legs.map(({ makes }) => makes));
    return {
      givens: { ...(ofChip ? ofChip.givens : {}), ...type, ...(ofModel ? ofModel.givens : {}), ...own },
      defaults: Object.fromEntries(Object.entries(presets.defaults).filter(([name]) => !made.has(name))), asked: way.asked, legs };
  }

  // -- curves --------------------------------------------------------------------------------------------------------------------

  const HEIGHT = 300, LEFT = 84, RIGHT = 16, TOP = 14, BOTTOM = 46;
  const NARROW = 360, WIDE = 640; // of a picture, so that its letters are as large as the text on a phone too

  function ticksOf(scale, most = 6) {
    if (!scale.ratios) return [0, 0.25, 0.5, 0.75, 1].map(scale.at);
    const first = Math.ceil(Math.log10(scale.low) - 1e-9), last = Math.floor(Math.log10(scale.high) + 1e-9), step = Math.ceil((last - first + 1) / most);
    const decades = [];
    for (let power = first; power <= last; power += step) decades.push(Number(`1e${power}`));
    return decades.length > 1 ? decades : [scale.low, Math.sqrt(scale.low * scale.high), scale.high].map((tick) => rounded(tick, 2));
  }

  /**
   * A picture of curves: `lines` of {points, kind, label}, `bands` of [x, low, high, to x], `point` of where one is, or `stretch` [x, low, high]; `strip` [low, high] of x, `area` of [x, low, high]; `x` and `y` of {row, label, scale}.
   * All is drawn with the classes of solver.css, and said in words by `told`.
   */
  function picture({ x, y, lines, bands = [], area = [], strip = null, point = null, stretch = null, told }) {
    const WIDTH = matchMedia("(max-width: 46rem)").matches ? NARROW : WIDE;
    const across = (value) => LEFT + Math.min(Math.max(x.scale.of(value), 0), 1) * (WIDTH - LEFT - RIGHT);
    const up = (value) => HEIGHT - BOTTOM - Math.min(Math.max(y.scale.of(value), -0.02), 1.02) * (HEIGHT - TOP - BOTTOM);
    const path = (points) => points.map(([a, b], at) => `${at && points[at - 1][2] !== false ? "L" : "M"}${across(a).toFixed(1)} ${up(b).toFixed(1)}`).join("");
    const names = lines.filter((line) => line.label);
    return drawn("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": told, class: "solver-picture" },
      ...ticksOf(x.scale, WIDTH === NARROW ? 3 : 6).flatMap((tick) => [
        drawn("line", { class: "solver-grid", x1: across(tick), x2: across(tick), y1: TOP, y2: HEIGHT - BOTTOM }),
        drawn("text", { x: across(tick), y: HEIGHT - BOTTOM + 16, "text-anchor": across(tick) > WIDTH - 2 * RIGHT ? "end" : "middle" }, show(x.row, tick, 3))]),
      ...ticksOf(y.scale).flatMap((tick) => [
        drawn("line", { class: "solver-grid", x1: LEFT, x2: WIDTH - RIGHT, y1: up(tick), y2: up(tick) }),
        drawn("text", { x: LEFT - 6, y: up(tick) + 4, "text-anchor": "end" }, show(y.row, tick, 3))]),
      drawn("text", { class: "solver-axis", x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 8, "text-anchor": "middle" }, x.label),
      ...(strip ? [drawn("rect", { class: "solver-strip", x: across(strip[0]), width: Math.max(across(strip[1]) - across(strip[0]), 1), y: TOP, height: HEIGHT - BOTTOM - TOP })] : []),
      ...bands.map(([at, low, high, wide]) => drawn("rect", {
        class: "solver-band", x: across(at), width: Math.max(across(wide) - across(at), 1), y: up(high), height: Math.max(up(low) - up(high), 1) })),
      ...(area.length ? [drawn("path", { class: "solver-band", d: `${path([...area.map(([at, , high]) => [at, high]), ...[...area].reverse().map(([at, low]) => [at, low])])}Z` })] : []),
      ...lines.map((line) => drawn("path", { class: `solver-line solver-${line.kind}`, d: path(line.points) })),
      ...(point ? [drawn("line", { class: "solver-drop", x1: across(point[0]), x2: across(point[0]), y1: up(point[1]), y2: HEIGHT - BOTTOM }),
        drawn("circle", { class: "solver-point", cx: across(point[0]), cy: up(point[1]), r: 6 })] : []),
      ...(stretch ? [drawn("line", { class: "solver-stretch", x1: across(stretch[0]), x2: across(stretch[0]), y1: up(stretch[1]), y2: up(stretch[2]) })] : []),
      ...names.map((line, at) => drawn("text", { class: `solver-key solver-key-${line.kind}`, x: LEFT + 8, y: TOP + 14 + 16 * at }, line.label)));
  }

  /** The span of a value's neighbourhood, kept while the value stays inside: of shares all of it. */
  function spanAround(row, value, before) {
    if (before && before.row === row && before.low * 1.5 < value && value < before.high / 1.5) return before;
    const wide = row.low > 0 && row.high / row.low > 20 && value > 0;
    const low = wide ? Math.max(value / 30, row.least, row.floor) : 0, high = wide ? Math.min(value * 30, row.most, row.ceiling) : Math.min(row.high, row.ceiling);
    return { row, low: wide ? low : row.low, high: Math.max(high, low * 1.01) };
  }

  /** A scale that holds all of some values, ending on halves of decades, or else from nothing. */
  function scaleAround(values) {
    const real = values.filter((value) => Number.isFinite(value)), above = real.filter((value) => value > 0);
    if (!real.length) return scaleOf(0, 1);
    const [low, high] = [Math.min(...above), Math.max(...real)];
    const halfDecade = (power, to) => 10 ** (to(2 * power) / 2);
    if (above.length === real.length && high / low > 20) return scaleOf(halfDecade(Math.log10(low), Math.floor), halfDecade(Math.log10(high), Math.ceil));
    return scaleOf(0, rounded(high * 1.15, 2) || 1);
  }

  const MOST_SAID = 40; // letters of a name or a value that a link asks for

  // -- the address ---------------------------------------------------------------------------------------------------------------

  /** Pairs of a name and a text that the address asks for; an anchor asks for nothing. */
  const asked = () => (location.hash.includes("=") ? [...new URLSearchParams(location.hash.slice(1))] : []);

  /** Pairs as they stand behind #, with the signs that people read left as they are. */
  const fragment = (pairs) => pairs.map((pair) => pair.map((text) => encodeURIComponent(text).replace(/%(?:2F|3A|2C|24|20)/g, (code) => (code === "%20" ? "+" : decodeURIComponent(code)))).join("=")).join("&");

  /** The shortest text of a value that reads back as it: with a suffix or a unit where that is exact. */
  function typedFor(row, value) {
    const [, size, unit] = row.units[unitOf(row, value, 12)], whole = show(row, value, 12), [suffix] = unit.trim().split(" ");
    return [`${figure(value / size, 12)}${/^[kMBT]?$/.test(suffix) ? suffix : ""}`, whole.replaceAll(" ", ""), whole].find((text) => read(row, text).value === value) ?? String(value);
  }

  let writing = 0;
  /** Puts what differs from the usual into the address, once nothing has moved for a moment; called when the reader has changed something. */
  function toAddress(pairs) {
    clearTimeout(writing);
    writing = setTimeout(() => history.replaceState(null, "", pairs.length ? `#${fragment(pairs)}` : location.pathname + location.search), 250);
  }

  /** The state of a page in the address, so that a link is an answer; written when nothing has moved for a moment. */
  function inAddress(stateOf) {
    let waiting = 0;
    return () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => history.replaceState(null, "", `#${new URLSearchParams(stateOf())}`), 250);
    };
  }

  /** What the address asks for, by its name each with what takes its text where that can be; in words what could not be taken. */
  function fromAddress(takers) {
    const asked = new URLSearchParams(location.hash.slice(1));
    const lost = Object.entries(takers).filter(([name, take]) => asked.has(name) && !take(asked.get(name)));
    const unknown = [...asked].filter(([name, text]) => text && !Object.hasOwn(takers, name));
    const said = [...lost, ...unknown].map(([name]) => [name, asked.get(name)].map((text) => text.slice(0, MOST_SAID)).join("=")).join(", ");
    return said && `The link asks for what cannot be: ${said}. What is usual stands in its place.`;
  }

  /** What takes a text into a place of a state where it is one that fits. */
  const takenInto = (state, key, fits, made = (text) => text) => (text) => { const good = text !== "" && fits(made(text)); if (good) state[key] = made(text); return good; };

  const form = { asked, choice, copyButton: (label, text) => root.backsolve.copy.button(label, text), drawn, element, field, figure, fragment, fromAddress, inAddress, knob, picture, presetOf, read, readSpan, scaleAround, scaleOf, show, spanAround, takenInto, toAddress, typed, typedFor, typeset, unitOf, withinDomain };
  if (typeof module !== "undefined") module.exports = form;
  else (root.backsolve = root.backsolve || {}).form = form;
})(globalThis);
