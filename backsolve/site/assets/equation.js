// The form on the page of an equation: any of its quantities from all the others, as the fields move.
"use strict";

(function () {
  const { copy, engine, form, leads, presets, mathml, ranges, roofline, writing } = backsolve;
  const place = document.getElementById("solver");
  if (!place) return;
  const { equation, example, ...page } = JSON.parse(document.getElementById("formulas").textContent);
  const quantities = Object.fromEntries([...equation.symbols, ...Object.keys(presets.beside)].map((name) => [name, engine.rowOf(backsolve.quantities[name])]));
  const { element, show, typeset } = form, names = equation.symbols, left = names[0];
  const state = { unknown: left, over: null, values: {}, spans: {}, answers: [], look: null, span: null, hardware: "", model: "", beside: { ...presets.beside }, led: null, roofed: null };
  const symbols = Object.fromEntries(names.map((name) => [name, quantities[name].math]));
  const related = ({ larger, smaller }, sign) => typeset(mathml.relationInMathml(larger, sign, smaller, symbols));
  const words = (name) => name.replaceAll("_", " ");
  const readable = (text) => text.replaceAll(">=", "≥").replaceAll("<=", "≤").replaceAll("**", "^").replaceAll("*", " · ");

  // -- where it starts: the worked example, and what the address says -----------------------------------------------------------

  function start() {
    for (const name of names) {
      const row = quantities[name], middle = row.low > 0 ? Math.sqrt(row.low * row.high) : (row.low + row.high) / 2;
      state.values[name] = example[name] ?? row.default ?? Number(middle.toPrecision(2));
    }
    const made = engine.valueOf(equation.right, state.values);
    if (example[left] === undefined && Number.isFinite(made)) state.values[left] = made;
  }
  function fromAddress() {
    const named = (name) => names.includes(name), fits = (name) => (value) => engine.inDomain(quantities[name], value);
    const numbers = names.map((name) => [name, (text) => {
      const ends = text.split("..").map(Number), spans = ends.length === 2 && ends.every(fits(name)) && ends[0] < ends[1];
      if (!spans) return form.takenInto(state.values, name, fits(name), Number)(text);
      [state.spans[name], state.values[name]] = [ends, (ends[0] + ends[1]) / 2];
      return true;
    }]);
    const chosen = (key, choice) => (text) => { const there = [...choice.options].some(({ value }) => value === text); if (there) state[key] = text; return there; };
    const resting = Object.keys(state.beside).filter((name) => !names.includes(name)).map((name) => [name, form.takenInto(state.beside, name, (value) => "value" in form.withinDomain(quantities[name], value), Number)]);
    notice.textContent = form.fromAddress({
      ...Object.fromEntries([...numbers, ...resting]), for: form.takenInto(state, "unknown", named), over: form.takenInto(state, "over", named),
      hardware: chosen("hardware", chips.select), model: chosen("model", models.select) });
  }
  const toAddress = form.inAddress(() => ({
    for: state.unknown, ...(state.over ? { over: state.over } : {}),
    ...Object.fromEntries(["hardware", "model"].filter((key) => state[key]).map((key) => [key, state[key]])),
    ...Object.fromEntries((state.led ? [...state.led.rests, ...(state.roofed ? state.roofed.rests : [])] : []).map((name) => [name, state.beside[name]])),
    ...Object.fromEntries(names.filter((name) => name !== state.unknown).map((name) => [name, (state.spans[name] || [state.values[name]]).join("..")])) }));

  // -- what the page shows -------------------------------------------------------------------------------------------------------

  const answer = element("output", { class: "solver-answer", "aria-live": "polite", "aria-atomic": "true" });
  const figureOf = element("figure", { class: "solver-figure" }), roofOf = element("div"), command = element("code"), notice = element("p", { class: "solver-fault", role: "alert" });
  const given = element("div", { class: "solver-fields" });
  const fields = new Map(names.map((name) => [name, form.field(name, quantities[name], changed, words(name), form.readSpan)]));
  const unknowns = form.choice("Solve for", names.map((name) => [name, words(name)]), null, (name) => {
    state.unknown = name;
    ask();
  });
  const over = form.choice("Draw it over", [], null, (name) => { state.over = name; state.span = null; draw(); toAddress(); });

  // -- a chip and a model --------------------------------------------------------------------------------------------------------

  const sought = leads.sought(presets, equation), speaks = (...given) => given.some((one) => Object.keys(one).some((name) => sought.has(name)));
  const typesOf = Object.entries(presets.chips).filter(([, one]) => speaks(one.givens, Object.values(one.types)[0]))
    .flatMap(([name, one]) => Object.keys(one.types).map((dtype) => [`${name}:${dtype}`, `${name} in ${dtype}`]));
  const modelsOf = Object.entries(presets.models).filter(([, one]) => speaks(one.givens)).map(([name]) => name);
  const chips = form.choice("Chip", [["", "any"], ...typesOf], "", (value) => { state.hardware = value; ask(); });
  const models = form.choice("Model", [["", "any"], ...modelsOf], "", (value) => { state.model = value; ask(); });
  const beside = new Map(Object.keys(presets.beside).map((name) => [name, form.field(name, quantities[name], rested)]));
  const ledOf = element("div", { class: "solver-led" }), besideOf = element("div", { class: "solver-fields" }), wayOf = element("ol", { class: "desk-way" });
  const ledSaid = element("p", { class: "solver-note" });
  const chosen = () => { const [chip, dtype = ""] = state.hardware.split(":"); return { chip, dtype, model: state.model }; };

  /** Puts in what the chip and the model say of the quantities that are given. */
  function led() {
    const before = state.led ? state.led.found : null;
    state.led = state.hardware || state.model ? leads.lead(presets, chosen(), equation, state.unknown, state.values, state.beside) : null;
    state.roofed = null;
    if (!state.led) return;
    for (const name of names) {
      if (name in state.led.found) { state.values[name] = state.led.found[name]; delete state.spans[name]; }
      else if (name !== state.unknown && (before ? name in before : !(name in presets.beside))) state.values[name] = quantities[name].default ?? state.values[name]; // what this chip or model does not set
    }
    const both = state.hardware && state.model && page.under_roof;
    state.roofed = both ? leads.deployed(presets, chosen(), equation, state.values, state.beside, roofline.TIMES) : null;
  }

  /** What follows from the chip and the model is put into its fields, and said below them. */
  function ledShown() {
    ledOf.hidden = !state.led;
    if (!state.led) return;
    const { found, legs, rests, unmet } = state.led, drawn = state.roofed ? state.roofed.rests.filter((name) => !rests.includes(name)) : [], made = legs.map(({ makes }) => makes).filter((name) => name in found).map(words);
    const both = [state.hardware.replace(":", " in "), state.model].filter(Boolean).join(" with ");
    const lacking = typesOf.length && !state.hardware ? "a chip" : modelsOf.length && !state.model ? "a model" : "";
    const without = names.some((name) => name !== left && sought.has(name) && !(name in found)) && lacking ? `Choose ${lacking} too, and more may follow.` : "";
    const follows = made.length ? `${made.join(", ")} follow${made.length > 1 ? "" : "s"} from ${both}${rests.length ? " and from" : ""}` : Object.keys(found).length ? "" : `Nothing here follows from ${both} alone`;
    const roofed = drawn.length ? `the roofline is that of ${rests.length ? "them and of" : "a step with"}` : "";
    ledSaid.textContent = [without, unmet.length ? `What leads there does not hold: ${unmet.map((one) => one.otherwise || one.said).join("; ")}.` : "", [follows, roofed].filter(Boolean).join("; ") + (rests.length + drawn.length ? ":" : follows ? "." : "")].filter(Boolean).join(" ");
    const shown = [...rests, ...drawn].map((name) => beside.get(name));
    if (shown.length !== besideOf.children.length || shown.some(({ root }, at) => besideOf.children[at] !== root)) {
      besideOf.replaceChildren(...shown.map((field) => { field.set(state.beside[field.name]); return field.root; }));
    }
    wayOf.parentElement.hidden = !legs.length;
  }
  /** The equations that led there, worked out once the page has nothing else to do. */
  function wayShown() {
    if (!state.led) return;
    wayOf.replaceChildren(...state.led.legs.map((leg) => element("li", {},
      element("a", { href: `../${leg.id}/index.html` }, leg.id), ` ${words(leg.makes)} = ${show(engine.rowOf(backsolve.quantities[leg.makes]), state.led.values[leg.makes])}`)));
  }
  function rested(field) {
    notice.textContent = "";
    if (field.wrong) { unusable(field.name); return; }
    state.beside[field.name] = field.value;
    refilled(null);
    solved();
  }
  /** Fields that follow from others, set anew, but for the one that is typed into. */
  function refilled(typed) {
    if (!state.led) return;
    led();
    for (const name of names) if (name in state.led.found && name !== state.unknown && name !== typed) fields.get(name).set(state.values[name]);
    ledShown();
  }

  // -- asking --------------------------------------------------------------------------------------------------------------------

  function changed(field) {
    notice.textContent = "";
    if (!field.wrong) taken(field);
    const wrong = names.find((name) => name !== state.unknown && fields.get(name).wrong);
    if (wrong) { unusable(wrong); return; }
    if (state.led && field.name in state.led.found) { Object.assign(state, { hardware: "", model: "", led: null, roofed: null }); chosenShown(); } // it is no longer that chip or model
    refilled(field.name);
    solved();
  }

  function taken({ name, value, span }) {
    state.values[name] = value;
    if (span) state.spans[name] = span;
    else delete state.spans[name];
  }

  function chosenShown() {
    chips.select.value = state.hardware;
    models.select.value = state.model;
    ledShown();
  }

  /** Another unknown, chip or model, or other numbers from outside: fields are set, then it is solved. */
  function ask() {
    unknowns.select.value = state.unknown;
    led();
    chosenShown();
    const others = names.filter((name) => name !== state.unknown);
    if (!others.includes(state.over)) state.over = others.find((name) => quantities[name].default === undefined) || others[0];
    over.select.replaceChildren(...others.map((name) => element("option", { value: name, selected: name === state.over }, words(name))));
    given.replaceChildren(...others.map((name) => { fields.get(name).set(state.values[name], state.spans[name]); return fields.get(name).root; }));
    state.span = null;
    solved();
  }

  function solved() {
    const found = engine.solve(equation, state.unknown, state.values, quantities), spanning = spansOf();
    state.answers = found.answers;
    pasted.hidden = true; // it was of other numbers
    state.look = Object.keys(spanning).length ? ranges.over(answersAt, spanning) : null;
    state.looked = 0;
    if (found.answers.length === 1 && found.answers[0].kind === "point") state.values[state.unknown] = found.answers[0].value;
    if (state.look) spanned(false);
    else if (found.answers.length) answered(found.answers);
    else said([refused(found)]);
    const { elasticities } = found.answers.find((one) => one.kind === "point") || found.answers[0] || { elasticities: {} };
    for (const name of names) if (name !== state.unknown) fields.get(name).moves(elasticities[name]);
    toAddress();
    later(() => { commanded(); wayShown(); draw(); });
  }

  /** The ranges of what is given. */
  const spansOf = () => Object.fromEntries(Object.entries(state.spans).filter(([name]) => name !== state.unknown));

  /** All answers where some quantities have other values than in the fields, and what follows from them by a chip and a model. */
  function answersAt(point) {
    const values = { ...state.values, ...point }, led = state.led ? leads.lead(presets, chosen(), equation, state.unknown, values, state.beside).found : {};
    return engine.solve(equation, state.unknown, { ...values, ...led, ...point }, quantities).answers;
  }

  function commanded() {
    const others = names.filter((name) => name !== state.unknown);
    command.textContent = `backsolve solve ${state.unknown} --using ${equation.id} ${form.typed(others, state.values, quantities, spansOf())} --as latex`;
  }

  /** That a field cannot be used as it stands; what was still being looked at is of other numbers. */
  function unusable(name) {
    cancelAnimationFrame(waiting);
    state.look = null;
    pasted.hidden = true;
    said([element("p", { class: "solver-none" }, `No answer: ${words(name)} cannot be used as it stands.`)]);
  }

  function said(parts) {
    shown = { shape: "", paragraphs: [] };
    answer.replaceChildren(...parts);
  }
  let waiting = 0;
  const later = (act) => { cancelAnimationFrame(waiting); waiting = requestAnimationFrame(act); };

  // -- saying --------------------------------------------------------------------------------------------------------------------

  let shown = { shape: "", paragraphs: [] };

  /** The answers; mathematics is set anew only where it is another than before, as numbers move far oftener. */
  function answered(answers) {
    const shape = JSON.stringify([state.unknown, ...answers.map((one) => [one.kind, one.form ? one.form.tree : "", one.regime ? one.regime.label : ""])]);
    if (shape !== shown.shape) {
      shown = { shape, paragraphs: answers.map(paragraph) };
      answer.replaceChildren(...shown.paragraphs.map(({ root }) => root));
    }
    answers.forEach((one, at) => shown.paragraphs[at].tell(one));
  }

  /** What the answer spans over all ranges, so far as they were looked at. */
  function spanned(whole) {
    const row = quantities[state.unknown], { kind, low, high, mixed, points, unanswered } = state.look.told(), middle = state.answers[0];
    if (kind === "none") { said([element("p", { class: "solver-none" }, `No answer at any of ${points} points of the ranges.`)]); return; }
    const ends = kind === "throughout" ? span(row, { low, high }) : `between ${show(row, low)} and ${show(row, high)}`;
    const how = { exact: "ends exact: with each range it only rises or only falls", throughout: "that is enough all over the ranges", somewhere: "somewhere in the ranges; no value is enough all over them" };
    const open = whole ? [how[kind] || `as seen at ${points} points of the ranges`, ...(mixed ? ["in part it has a value, in part only bounds"] : []), ...(unanswered ? [`no answer in ${form.figure(100 * unanswered, 2)} % of the ranges`] : [])] : ["at the corners of the ranges; between them is being looked at"];
    const there = middle && middle.kind === "point" ? `in the middle of the ranges ${show(row, middle.value)}` : "";
    const parts = [element("strong", {}, typeset(row.math), ` ${ends}${errs(state.look.told())}`), element("small", {}, open.join("; ")), element("small", {}, there)];
    said([element("p", {}, ...parts.map((part) => element("span", { class: "solver-part" }, part)))]);
  }

  function paragraph({ kind, form: closed, regime }) {
    const row = quantities[state.unknown], number = element("span"), plain = element("small"), parts = [element("strong", {}, typeset(row.math), " ", number), plain];
    if (closed) parts.push(element("span", { class: "solver-formula", tabindex: 0 }, typeset(row.math, "<mo>=</mo>", mathml.inMathml(writing.tidied(closed.tree), symbols))));
    else if (kind === "point") parts.push(element("small", {}, "found by a search: there is no closed form"));
    if (regime && regime.wins.length) {
      parts.push(element("small", { title: readable(regime.label) }, ...regime.wins.flatMap((pair, at) => [at ? " and " : "where ", related(pair, ">=")])));
    }
    const open = equation.sense === "=" ? `${words(state.unknown)} does not bind here: any of these values gives the same ${words(left)}` : "wherever the inequality holds";
    const tell = (one) => {
      number.textContent = kind === "point" ? `= ${show(row, one.value)}${errs(one)}` : span(row, one);
      plain.textContent = kind !== "point" ? open : row.unit === "1" ? "" : `${form.figure(one.value, 6)} ${row.unit}`;
    };
    return { root: element("p", {}, ...parts.map((part) => element("span", { class: "solver-part" }, part))), tell };
  }

  /** Which way a value errs. */
  const errs = ({ bound }) => ({ lower: " or more", upper: " or less" })[bound] || "";

  function span(row, { low, high }) {
    const least = low > row.floor || (low === row.floor && row.floor > 0), most = Number.isFinite(high) && high !== row.ceiling;
    if (least && most) return `between ${show(row, low)} and ${show(row, high)}`;
    return least ? `at least ${show(row, low)}` : most ? `at most ${show(row, high)}` : `anything ${row.domain}`;
  }

  function refused({ unmet }) {
    if (unmet.length) {
      const why = unmet.flatMap((one) => [`; ${one.otherwise ? `${one.otherwise}: ` : ""}`, related(one, one.sign), ` (${readable(one.said)}) is required`]);
      return element("p", { class: "solver-none" }, "No answer", ...why, ".");
    }
    const row = quantities[state.unknown], others = names.filter((name) => name !== state.unknown).map(words).join(", ");
    return element("p", { class: "solver-none" }, `No ${words(state.unknown)} ${row.domain} satisfies the equation with these values of ${others}.`);
  }

  // -- to be pasted --------------------------------------------------------------------------------------------------------------

  const pasted = element("pre", { class: "copied", hidden: true });
  const copies = ["LaTeX", "Markdown", "text"].map((style) => copy.buttonFor(pasted, `Copy as ${style}`, () => {
    pasted.textContent = writing.solution(solution())[style];
    pasted.hidden = false;
  }));

  /** What leads to the answer, with its numbers: by a chip and a model, then by the equation itself; of ranges, in their middle. */
  function solution() {
    const [one] = state.answers, { unknown } = state, legs = state.led ? state.led.legs : [], values = { ...(state.led ? state.led.values : {}), ...state.values };
    const all = Object.fromEntries([...names, ...legs.flatMap(({ makes, right }) => [makes, ...leads.namesIn(right)])].map((name) => [name, engine.rowOf(backsolve.quantities[name])]));
    const valued = (name, value) => ({ latex: `= ${writing.valueInLatex(all[name], value)}`, text: `= ${show(all[name], value)}` });
    const led = legs.map(({ id, version, makes, right }) => (
      { reference: `${id}@${version}`, left: makes, sense: "=", right, makes, solved: right, values, result: valued(makes, values[makes]) }));
    const point = one && one.kind === "point", ends = (low, high) => ({ text: `${unknown}: ${span(all[unknown], { low, high })}`, latex: writing.between(all[unknown], low, high) });
    const whole = { latex: `${all[unknown].latex} ${valued(unknown, values[unknown]).latex}`, text: `${unknown} ${valued(unknown, values[unknown]).text}` };
    const own = { reference: `${equation.id}@${equation.version}`, left, sense: equation.sense, right: equation.right, makes: unknown, solved: point && one.form ? one.form.tree : null, values,
      result: point ? (one.form ? valued(unknown, one.value) : whole) : one ? ends(one.low, one.high) : { latex: "\\text{no answer}", text: "no answer" } };
    const spanning = Object.entries(spansOf()), seen = state.look && state.look.told(), rests = [...new Set([...legs.flatMap(({ right }) => leads.namesIn(right)), ...names])];
    const where = writing.where(one && one.regime);
    const bound = point && (one.bound || where.text) ? [{ latex: writing.bounded(all[unknown], one.value, one.bound) + where.latex, text: `${unknown} ${valued(unknown, one.value).text}${errs(one)}${where.text}` }] : [];
    return {
      steps: [...led, own], quantities: all,
      above: spanning.length ? [{ latex: `\\text{in the middle of the ranges:}`, text: "in the middle of the ranges:" }] : [],
      below: seen && seen.kind !== "none" ? [ends(seen.low, seen.high)] : bound,
      given: rests.filter((name) => name !== unknown && !legs.some(({ makes }) => makes === name)).map((name) => [name, spansOf()[name] || [values[name]]]) };
  }

  // -- drawing -------------------------------------------------------------------------------------------------------------------

  const PLACES = 96, SLICE = 4, PATIENCE = 1500; // places of a curve, milliseconds of work between two frames, and of looking at points of ranges

  function draw() {
    const x = quantities[state.over], here = state.values[state.over], unknown = state.unknown;
    state.span = form.spanAround(x, here, state.span);
    const scale = form.scaleOf(state.span.low, state.span.high), places = Array.from({ length: PLACES + 1 }, (_, k) => scale.at(k / PLACES)), rows = [];
    const corners = cornersOf();
    const work = () => {
      const begun = performance.now();
      while (rows.length < places.length && performance.now() - begun < SLICE) {
        const at = { ...state.values, [state.over]: places[rows.length] };
        rows.push({ x: places[rows.length], answers: engine.solve(equation, unknown, at, quantities).answers, at, spans: spanAt(corners, places[rows.length]) });
      }
      later(rows.length < places.length ? work : () => { drawn(scale, rows); if (state.look) later(lookOn); });
    };
    work();
  }

  const FEW = 2; // ranges of which a picture shows all corners; of more, their ends alone

  /** Where the ranges of the other quantities end, for the picture over one. */
  function cornersOf() {
    const { [state.over]: _, ...others } = spansOf(), count = Object.keys(others).length;
    if (!count) return [];
    return count > FEW ? ranges.middleAndEnds(others).slice(-2 * count) : ranges.middleAndEnds(others);
  }
  function spanAt(corners, x) {
    const held = corners.flatMap((corner) => answersAt({ ...corner, [state.over]: x })).flatMap((one) => (one.kind === "point" ? [one.value] : []));
    return held.length ? [Math.min(...held), Math.max(...held)] : null;
  }

  /** Looks at more points of the ranges between two frames, and says what all of them span once they are seen. */
  function lookOn() {
    const begun = performance.now(), more = state.look.more(() => performance.now() - begun < SLICE);
    state.looked += performance.now() - begun;
    if (more && state.looked < PATIENCE) later(lookOn);
    else spanned(true);
  }

  function drawn(scale, rows) {
    const row = quantities[state.unknown], x = quantities[state.over], point = state.answers.find((one) => one.kind === "point");
    const most = Math.max(0, ...rows.map(({ answers }) => answers.filter((one) => one.kind === "point").length));
    const lines = Array.from({ length: most }, (_, k) => ({ kind: "answer", label: "", points: pointsOf(rows, k) }));
    const terms = state.unknown === left && equation.regimes.length > 1 ? termsOf(rows) : [];
    const ends = rows.flatMap(({ answers }) => answers.filter((one) => one.kind === "interval").flatMap(({ low, high }) => [low, high]));
    const own = state.answers.filter((one) => one.kind === "interval").flatMap(({ low, high }) => [low, high]);
    const heights = [...lines, ...terms].flatMap((line) => line.points.map(([, value]) => value));
    const spans = rows.flatMap((one) => one.spans || []);
    const y = form.scaleAround([...heights, ...spans, ...[...ends, ...own].filter((end) => end > 0 && Number.isFinite(end)), ...(point ? [point.value] : [])]);
    const bands = rows.slice(0, -1).flatMap(({ x: at, answers }, k) => answers.filter((one) => one.kind === "interval")
      .map(({ low, high }) => [at, Math.max(low, y.low), Math.min(high, y.high), rows[k + 1].x]));
    const known = !point && state.answers[0], stretch = known ? [state.values[state.over], Math.max(known.low, y.low), Math.min(known.high, y.high)] : null;
    const label = `${words(state.unknown)} over ${words(state.over)}`;
    const picture = form.picture({
      x: { row: x, scale, label: `${words(state.over)}` }, y: { row, scale: y }, lines: [...terms, ...lines], bands, stretch, area: rows.flatMap((one) => (one.spans ? [[one.x, ...one.spans]] : [])), strip: state.spans[state.over] || null,
      point: point ? [state.values[state.over], point.value] : null,
      told: point ? `${label}; at ${show(x, state.values[state.over])} it is ${show(row, point.value)}` : known ? `${label}; here it is ${span(row, known)}` : label });
    roofOf.replaceChildren(point ? roofShown() : "");
    figureOf.replaceChildren(picture, element("figcaption", {}, label + (spans.length ? "; shaded, what it spans over the ranges" : bands.length || stretch ? "; shaded where only bounds are known" : "") + (terms.length ? "; dashed, each regime by itself" : "")));
  }

  /** The roofline where a step rests on the quantities here: of the chip that is chosen, or of times alone. */
  function roofShown() {
    const found = page.under_roof && state.hardware && state.model ? leads.deployed(presets, chosen(), equation, state.values, state.beside, roofline.TIMES) : null;
    return found ? roofline.figure(presets.roof, found.values, found.at.map((name) => `at ${words(name)} = ${show(quantities[name], found.values[name])}, `).join(""))
      : page.roof ? roofline.figure(page.roof, state.values) : "";
  }

  /** The answers in their order as one line, broken where there is none. */
  function pointsOf(rows, k) {
    const found = rows.map(({ x, answers }) => [x, (answers.filter((one) => one.kind === "point")[k] || {}).value]), points = [];
    found.forEach(([x, value], at) => {
      if (value !== undefined) points.push([x, value, at + 1 < found.length && found[at + 1][1] !== undefined]);
    });
    return points;
  }

  /** The roofs: what the right side would be if one regime held everywhere. */
  function termsOf(rows) {
    return equation.regimes.map((regime) => ({
      kind: "term", label: "", points: rows.map(({ x, at }) => [x, engine.valueOf(regime.value, at)]).filter(([, value]) => Number.isFinite(value) && value > 0) }));
  }

  // -- the page ------------------------------------------------------------------------------------------------------------------

  ledOf.append(ledSaid, besideOf, element("details", {}, element("summary", {}, "The way: the equations that lead there"), wayOf));
  start();
  fromAddress();
  place.classList.add("solver");
  place.setAttribute("aria-labelledby", "solve");
  place.replaceChildren(
    element("h2", { id: "solve" }, "Solve for any quantity"),
    element("div", { class: "solver-choices" }, unknowns.root, typesOf.length ? chips.root : "", modelsOf.length ? models.root : ""), notice, answer, given, ledOf,
    element("p", { class: "solver-note" }, "The bars: by how many per cent the answer moves with one per cent more. A field takes a range too, as 16..64 or 0.4±0.1."),
    names.length > 1 ? element("div", { class: "solver-choices" }, over.root) : "", figureOf, roofOf,
    element("p", { class: "solver-copies" }, "The derivation with these numbers: ", ...copies), pasted,
    element("p", {}, "The same at the command line: ", command));
  ask();
  window.addEventListener("hashchange", () => { fromAddress(); ask(); });
})();
