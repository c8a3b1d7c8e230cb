// The form on the page of an equation: any of its quantities from all the others, as the sliders move.
"use strict";

(function () {
  const { chart, engine, form, presets } = backsolve;
  const place = document.getElementById("solver");
  if (!place) return;
  const { equation, start: first } = JSON.parse(document.getElementById("formulas").textContent);
  const { element, show, typeset } = form, names = equation.symbols, [left] = names;
  const quantities = Object.fromEntries(names.map((name) => [name, engine.rowOf(backsolve.quantities[name])]));
  const words = (name) => name.replaceAll("_", " "), named = (name) => names.includes(name);

  // -- what the page starts with: the worked example at ideal rates --
  const rates = Object.keys(presets.sustained).filter(named);
  const usual = { unknown: left, hardware: "", model: "", log: false, values: { ...first, [left]: engine.valueOf(equation.right, first) } };
  const state = { ...usual, values: { ...usual.values }, over: null, answers: [] };

  const { notice, moved, link } = form.shared(() => pairs(), solved);

  // -- controls --
  const [someChip] = Object.values(presets.chips), [someModel] = Object.values(presets.models), ofPresets = { ...someChip.givens, ...Object.values(someChip.types)[0], ...someModel.givens };
  const isLed = names.slice(1).some((name) => name in ofPresets || presets.legs.some(({ id, makes }) => makes === name && id !== equation.id));
  const types = Object.entries(presets.chips).flatMap(([name, { types: of }]) => Object.keys(of).map((dtype) => [`${name}:${dtype}`, `${name} in ${dtype}`]));
  const models = Object.keys(presets.models).filter(Boolean);
  const choose = (key) => (value) => { state[key] = value; afresh(); ask(); moved(); };
  const chips = form.choice("Chip", [["", "any"], ...types], "", choose("hardware")), ofModels = form.choice("Model", [["", "any"], ...models], "", choose("model"));
  const unknowns = form.choice("Solve for", names.map((name) => [name, words(name)]), null, (name) => { state.unknown = name; led(); ask(); moved(); });
  const over = form.choice("Draw it over", [], null, (name) => { state.over = name; moved(); });
  const knobs = Object.fromEntries(names.map((name) => [name, form.knob(quantities[name], words(name), changed, undefined, quantities[name].math)]));
  const axes = form.toggle("logarithmic axes", () => state.log, () => { state.log = !state.log; moved(); });
  const setRates = () => { const to = rates.every((name) => state.values[name] === 1); for (const name of rates) state.values[name] = to ? presets.sustained[name] : 1; ask(); moved(); };
  const sustained = form.toggle("sustained rates", () => rates.every((name) => state.values[name] === presets.sustained[name]), setRates);
  const answer = element("output", { class: "solver-answer", "aria-live": "polite", "aria-atomic": "true" });
  const given = element("div", { class: "knobs" }), holder = element("div", { class: "drawing" }), caption = element("figcaption"), command = element("code"), ledSaid = element("p", { class: "solver-note" });
  const pasted = element("pre", { class: "copied", hidden: true });
  const copies = ["LaTeX", "Markdown", "text"].map((style) => backsolve.copy.button(`Copy as ${style}`, () => {
    pasted.textContent = backsolve.derivation.derivation({ equation, unknown: state.unknown, answer: state.answers[0], values: state.values, span: state.answers[0] && span(state.answers[0]) }, quantities)[style];
    pasted.hidden = false;
    return pasted.textContent;
  }, pasted));

  // -- the address --
  const others = () => names.filter((name) => name !== state.unknown);
  const pairs = (found = leads()) => [
    ...["unknown", "hardware", "model"].filter((key) => state[key] !== usual[key]).map((key) => [key === "unknown" ? "for" : key, state[key]]),
    ...others().filter((name) => state.values[name] !== start(name) && !(name in found)).map((name) => [name, form.typedFor(quantities[name], state.values[name])]),
    ...(state.over === usualOver() ? [] : [["over", state.over]]), ...(state.log ? [["axes", "log"]] : [])];
  const usualOver = () => others().find((name) => name === place.dataset.over) || others().find((name) => quantities[name].default === undefined) || others()[0];

  function fromAddress() {
    const asked = form.asked(), texts = new Map(asked), has = (choice, value) => [...choice.select.options].some((one) => one.value === value);
    Object.assign(state, { ...usual, values: { ...usual.values }, over: texts.get("over"), log: texts.get("axes") === "log" });
    const fits = { __proto__: null, for: named, over: named, hardware: (text) => has(chips, text), model: (text) => has(ofModels, text), axes: (text) => text === "log" };
    for (const key of ["hardware", "model"]) if (fits[key](texts.get(key))) state[key] = texts.get(key);
    if (named(texts.get("for"))) state.unknown = texts.get("for");
    afresh();
    ask();
    for (const name of others()) if (texts.has(name)) { knobs[name].type(texts.get(name)); state.values[name] = knobs[name].value ?? state.values[name]; }
    notice.textContent = form.refused(asked.filter(([name, text]) => !named(name) && !fits[name]?.(text)));
    solved();
  }

  // -- a chip and a model --
  /** The equations that may lead to a quantity of another: not that one itself, and none that makes what is asked for. */
  const apart = (legs) => legs.filter(({ id, makes }) => id !== equation.id && makes !== left && makes !== state.unknown);

  /** What a chip and a model say of the quantities that are given, beside what the desk starts with. */
  function leads() {
    if (!state.hardware && !state.model) return {};
    const [chip, dtype = ""] = state.hardware.split(":"), preset = form.presetOf(presets, chip, dtype, state.model), legs = apart(preset.legs), made = new Set(legs.map(({ makes }) => makes));
    const own = others().filter((name) => name !== left && !(name in preset.givens) && !made.has(name));
    const known = { ...preset.defaults, ...presets.beside, ...preset.givens, ...Object.fromEntries(own.map((name) => [name, state.values[name]])) };
    for (const name of [state.unknown, left]) delete known[name];
    const all = engine.chain(legs, known);
    return Object.fromEntries(others().filter((name) => name in all && (name in preset.givens || made.has(name))).map((name) => [name, all[name]]));
  }
  /** What a quantity has before anybody sets it: beside a chip or a model its neutral default, as at the command line. */
  const start = (name) => ((state.hardware || state.model) && quantities[name].default !== undefined ? quantities[name].default : usual.values[name]);
  function afresh() {
    if (state.hardware || state.model) for (const name of others()) if (quantities[name].default !== undefined) state.values[name] = start(name);
    led();
  }
  function led() {
    const found = leads(), both = [state.hardware.replace(":", " in "), state.model].filter(Boolean).join(" with "), follow = Object.keys(found).map(words).join(", ");
    Object.assign(state.values, found);
    ledSaid.textContent = !both ? "" : `From ${both}: ${follow || "nothing here alone"}. Batch, context and chips are those that the desk starts with.`;
  }

  // -- asking --
  function changed(knob) {
    const [name] = Object.entries(knobs).find(([, one]) => one === knob);
    if (!knob.wrong) {
      state.values[name] = knob.value;
      if (name in leads()) Object.assign(state, { hardware: "", model: "" }); // it is no longer that chip or model
      else led();
      for (const other of others()) if (other !== name && knobs[other].value !== state.values[other]) knobs[other].set(state.values[other]);
    }
    moved();
  }

  /** Another unknown, chip or model, or other numbers from outside: the sliders are set. */
  function ask() {
    if (!others().includes(state.over)) state.over = usualOver();
    over.select.replaceChildren(...others().map((name) => element("option", { value: name, selected: name === state.over }, words(name))));
    given.replaceChildren(...others().map((name) => knobs[name].root));
    for (const name of others()) knobs[name].set(state.values[name]);
  }

  const solveAt = (values) => engine.solve(equation, state.unknown, values, quantities);

  function solved() {
    for (const [choice, value] of [[unknowns, state.unknown], [chips, state.hardware], [ofModels, state.model]]) choice.select.value = value;
    if (!state.hardware && !state.model) ledSaid.textContent = "";
    for (const one of [axes, sustained]) one.tell();
    pasted.hidden = true; // it was of other numbers
    const wrong = others().find((name) => knobs[name].wrong);
    if (wrong) { state.answers = []; said([element("p", { class: "solver-none" }, `No answer: ${words(wrong)} cannot be used.`)]); return; }
    const found = solveAt(state.values), [first] = found.answers;
    state.answers = found.answers;
    if (found.answers.length === 1 && first.kind === "point") state.values[state.unknown] = first.value;
    said(found.answers.length ? found.answers.map(paragraph) : [refused(found)]);
    for (const name of others()) knobs[name].moves((first && first.elasticities[name]) || 0);
    command.textContent = `backsolve solve ${state.unknown} --using ${equation.id} ${form.typed(others(), state.values, quantities)} --as latex`;
    draw();
  }

  // -- saying --
  const said = (parts) => answer.replaceChildren(...parts);
  const part = (...children) => element("span", { class: "solver-part" }, ...children);
  const OR = { lower: " or more", upper: " or less" };

  function paragraph(one) {
    const row = quantities[state.unknown], isPoint = one.kind === "point", value = isPoint ? `= ${show(row, one.value)}${OR[one.bound] || ""}` : span(one);
    const open = equation.sense === "=" ? `${words(state.unknown)} does not matter here. Any of these values gives the same ${words(left)}` : "wherever the inequality holds";
    const plain = !isPoint ? open : one.form ? (row.unit === "1" ? "" : `${form.figure(one.value, 6)} ${row.unit}`) : "found numerically, because there is no closed form";
    return element("p", {}, part(element("strong", {}, typeset(row.math), " ", element("span", {}, value))), part(element("small", {}, plain)),
      one.form ? element("span", { class: "solver-formula", tabindex: 0 }, typeset(row.math, "<mo>=</mo>", one.form.math.replace(/@(\w+)@/g, (_, name) => quantities[name].math).replaceAll("*", '<mo rspace="0.17em">\u2062</mo>'))) : null,
      one.regime && one.regime.wins.length ? part(element("small", {}, `where ${one.regime.plain}`)) : null);
  }

  function span({ kind, value, low, high }) {
    const row = quantities[state.unknown], least = low > row.floor || (low === row.floor && row.floor > 0), most = Number.isFinite(high) && high !== row.ceiling;
    if (kind === "point") return show(row, value);
    if (least && most) return `between ${show(row, low)} and ${show(row, high)}`;
    return least ? `at least ${show(row, low)}` : most ? `at most ${show(row, high)}` : `anything ${row.domain}`;
  }

  function refused({ unmet }) {
    const row = quantities[state.unknown], why = unmet.map((one) => `${one.otherwise ? `${one.otherwise}: ` : ""}${one.said} is required`).join("; ");
    return element("p", { class: "solver-none" }, unmet.length ? `No answer; ${why}.` : `No ${words(state.unknown)} ${row.domain} satisfies the equation with these values of ${others().map(words).join(", ")}.`);
  }

  // -- drawing --
  const PLACES = 96, NEAR = 2.5, FAR = 30, TALL = 6; // of a curve: places (a quarter if searched), how far from here it reaches, how much higher

  function draw() {
    const x = quantities[state.over], here = state.values[state.over], y = quantities[state.unknown], point = state.answers.find((one) => one.kind === "point");
    const low = state.log && here > 0 ? Math.max(here / FAR, x.least, x.floor) : Math.max(x.low >= 1 && x.whole ? 1 : 0, x.floor), high = Math.min((here || x.high) * (state.log ? FAR : NEAR), x.ceiling, x.most);
    const count = point && !point.form ? PLACES / 4 : PLACES, share = (k) => (state.log ? low * (high / low) ** (k / count) : low + ((high - low) * k) / count);
    const places = Array.from({ length: count + 1 }, (_, k) => share(k)).filter((at) => at > 0 || x.zero);
    const found = places.map((at) => ({ at, answers: solveAt({ ...state.values, [state.over]: at }).answers }));
    const points = found.flatMap(({ at, answers }) => answers.filter((one) => one.kind === "point").slice(0, 1).map(({ value }) => [at, value]));
    const terms = state.unknown === left && equation.regimes.length > 1 ? equation.regimes.map((regime) => ({ words: "", role: "quiet", dashed: true, points: places.map((at) => [at, engine.valueOf(regime.value, { ...state.values, [state.over]: at })]) })) : [];
    const heights = [...points, ...(point ? [[here, point.value]] : [])].map(([, value]) => value), edges = found.flatMap(({ answers }) => answers.flatMap((one) => (one.kind === "interval" ? [one.low, one.high] : []))).filter((end) => end > 0 && Number.isFinite(end));
    const most = Math.max(...heights, ...edges), top = point && !state.log ? Math.min(most, TALL * point.value) : most;
    const areas = found.flatMap(({ at, answers }) => answers.filter((one) => one.kind === "interval").map((one) => [at, Math.max(one.low, 0), Math.min(one.high, 1.04 * top)]));
    const label = `${words(state.unknown)} over ${words(state.over)}`;
    caption.textContent = label + (areas.length ? ". Shaded: only bounds are known" : "") + (terms.length ? ". Dashed: each regime alone" : "");
    if (!(top > 0) || !(high > low)) { holder.replaceChildren(); return; }
    holder.replaceChildren(chart.draw({
      x: { row: x, words: words(state.over), log: state.log, low, high }, y: { row: y, words: words(state.unknown), log: state.log, high: 1.04 * top },
      lines: [...terms, { words: "", role: "total", points }].filter((line) => line.points.length), areas: areas.length ? [{ points: areas, role: "compute" }] : [],
      dots: point ? [{ x: here, y: point.value, words: "here", role: "compute" }] : [], told: point ? `${label}; at ${show(x, here)} it is ${show(y, point.value)}` : label }, holder.clientWidth));
  }

  // -- the page --
  place.classList.add("solver");
  place.setAttribute("aria-labelledby", "solve");
  place.replaceChildren(
    element("h2", { id: "solve" }, "Solve for any quantity"),
    element("div", { class: "solver-choices" }, unknowns.root, isLed ? chips.root : "", isLed ? ofModels.root : "", rates.length ? sustained.root : "", link()), notice, answer, given, ledSaid,
    element("p", { class: "solver-note" }, "The per cent beside a name is the change of the answer if this quantity rises by 1 %."),
    element("div", { class: "solver-choices" }, names.length > 1 ? over.root : "", axes.root), element("figure", { class: "solver-figure" }, holder, caption),
    element("p", { class: "solver-copies" }, "The derivation with these numbers: ", ...copies), pasted, element("p", {}, "The same at the command line: ", command));
  form.live(fromAddress, draw, place);
})();
