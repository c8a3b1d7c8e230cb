// The sizing desk: a model on chips, and what a step, a token and a user come to, as the sliders move; and which batch, context or chips meet a target.
"use strict";

(function () {
  const { engine, form } = backsolve;

  // -- what a deployment comes to --
  const isOwn = (name) => name.startsWith("own ");
  const filled = (fields) => Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));

  /** All values of a deployment, which time of a step is the longer one, and which requirements are not met. */
  function deployed(desk, { chip, dtype, model, fields }) {
    const preset = form.presetOf(desk, chip, dtype, model), values = engine.chain(preset.legs.slice(0, preset.asked), filled({ ...preset.defaults, ...preset.givens, ...fields }));
    const legs = preset.legs.slice(0, preset.asked).filter(({ makes }) => makes in values), { binding } = legs.find((leg) => leg.binding);
    const parts = Object.entries(desk.parts).filter(([part, whole]) => values[part] > values[whole]);
    const impossible = parts.map(([part, whole]) => ({ said: `${part} = ${values[part]}: no more than ${whole} = ${values[whole]}` }));
    const longer = ({ larger, smaller }) => engine.valueOf(larger, values) >= engine.valueOf(smaller, values);
    return {
      legs, values, binds: (binding.find(({ wins }) => wins.every(longer)) || binding[0]).binds,
      unmet: [...impossible, ...legs.flatMap((leg) => engine.broken(leg, values))],
      fits: !impossible.length && values.memory_per_chip <= values.hbm_capacity };
  }
  const withField = (desk, chosen, name, value) => deployed(desk, { ...chosen, fields: { ...chosen.fields, [name]: value } });

  /** The first whole number from which on something is so, by doubling and halving; null where there is none up to the most. */
  function firstOf(isSo, most) {
    let low = 0, high = 1;
    while (high <= most && !isSo(high)) [low, high] = [high, 2 * high];
    if (high > most) return null;
    while (high - low > 1) { const middle = Math.floor((low + high) / 2); if (isSo(middle)) high = middle; else low = middle; }
    return high;
  }
  /** The largest batch that fits, 0 for none, null where there is no end to it; and the fewest chips that hold it. */
  function mostThatFits(desk, chosen, name) {
    const first = firstOf((count) => !withField(desk, chosen, name, count).fits, 2 ** 24);
    return first === null ? null : first - 1;
  }
  const fewestThatFit = (desk, chosen, name) => firstOf((count) => withField(desk, chosen, name, count).fits, 2 ** 17);

  const GOALS = { step_time: -1, time_to_first_token: -1, cost_per_token: -1, tokens_per_second_per_user: 1, throughput: 1 }; // which way is better

  /** The value of a field at which a result is what is wanted, found by bisection; a whole number still meets it. Null where none does. */
  function solvedFor(desk, chosen, name, goal, wanted, { low, high, whole }) {
    const height = (value) => withField(desk, chosen, name, value).values[goal] - wanted, GRID = 64;
    const places = Array.from({ length: GRID + 1 }, (_, k) => low * (high / low) ** (k / GRID)), at = places.findIndex((place, k) => k && height(places[k - 1]) * height(place) <= 0);
    if (at < 0) return null;
    let [from, to] = [places[at - 1], places[at]];
    for (let turn = 0; turn < 100; turn++) { const middle = Math.sqrt(from * to); if (height(from) * height(middle) <= 0) to = middle; else from = middle; }
    if (!whole) return to;
    const near = Math.round(to), counts = [...(Math.abs(near - to) < 1e-9 * to ? [near] : []), Math.floor(to), Math.ceil(to)].filter(Boolean);
    return counts.find((count) => GOALS[goal] * height(count) >= -1e-9 * wanted) ?? null;
  }

  /** Where a step works under the roof of a chip: FLOPs for each byte that is read, and FLOP/s. */
  const pointOf = (roof, values) => [roof.intensity, roof.rate].map((tree) => engine.valueOf(tree, { ...roof.given, ...values }));

  /** The same question at the command line. */
  function command(desk, { chip, dtype, model, fields }, { values, fits }, quantities) {
    const asked = desk.asked.filter((name) => name in values), given = filled(fields), presets = (isOwn(chip) ? "" : ` --hardware ${chip}:${dtype}`) + (isOwn(model) ? "" : ` --model ${model}`);
    return `backsolve solve ${asked.join(",")}${presets} ${form.typed(Object.keys(given), given, quantities)}${fits ? "" : " --anyway"}`;
  }

  backsolve.desk = { command, deployed, mostThatFits, pointOf, solvedFor };

  // -- the page --
  const place = globalThis.document && document.getElementById("desk");
  if (!place) return;
  const { chart } = backsolve, { element, show } = form, PRICE = "chip_price"; // without a price all is answered but costs
  const desk = { ...backsolve.presets, ...JSON.parse(document.getElementById("desk-data").textContent) }, owns = Object.values(desk.own).flatMap(Object.keys), names = [...Object.keys(desk.beside), ...owns], rates = Object.keys(desk.sustained);
  const quantities = Object.fromEntries(Object.entries(backsolve.quantities).map(([name, row]) => [name, engine.rowOf(row)]).map(([name, row]) => [name, { ...row, undivided: row.whole, optional: name === PRICE || owns.includes(name) }]));
  const words = (name) => desk.titles[name] || name.replaceAll("_", " "), PICTURES = ["step_time", "cost_per_token", "tokens_per_second_per_user", "time_to_first_token", "memory_per_chip"], OVER = ["batch", "context_length", "chips"];
  const [chip, dtype, model] = desk.start, usual = { hardware: `${chip}:${dtype}`, model, over: "batch", picture: "step_time", axes: "linear", layout: "even" };
  const state = { ...usual, fields: {}, priced: false, beside: null };
  const chosen = () => { const [of, type] = state.hardware.split(":"); return { chip: of, dtype: type, model: state.model, fields: Object.fromEntries(Object.entries(state.fields).filter(([name, value]) => value !== null || name === PRICE)) }; };
  const rent = () => desk.chips[state.hardware.split(":")[0]].givens[PRICE] ?? null, start = (name) => (name === PRICE ? rent() : desk.beside[name] ?? Object.entries(desk.own).map(([key, values]) => (isOwn(state[key]) ? values[name] : undefined)).find(Boolean) ?? null);

  const { notice, moved, link } = form.shared(() => [...pairs(), ...(state.beside ? [["beside", form.fragment(state.beside.pairs)]] : [])], () => { settle(); sized(); });
  const chips = Object.entries(desk.chips).sort(([one], [other]) => (one < other ? -1 : 1)).flatMap(([name, one]) => Object.keys(one.types).map((type) => [`${name}:${type}`, `${name} in ${type}`]));
  const choices = {
    hardware: form.choice("Chip", chips, null, (value) => { state.hardware = value; if (!state.priced) set(PRICE, rent()); moved(); }), model: form.choice("Model", Object.keys(desk.models).filter(Boolean).sort(), null, (value) => { state.model = value; moved(); }),
    layout: form.choice("Attention", [["even", "spread evenly"], ["tp", "tensor parallel"], ["dp", "data parallel"]], null, (value) => { state.layout = value; moved(); }),
    picture: form.choice("Picture", PICTURES.map((name) => [name, words(name)]), null, (value) => { state.picture = value; moved(); }), over: form.choice("Over", OVER.map((name) => [name, words(name)]), null, (value) => { state.over = value; moved(); }) };
  const knobs = Object.fromEntries(names.map((name) => [name, form.knob(quantities[name], words(name), (knob) => changed(name, knob))]));
  const axes = form.toggle("logarithmic axes", () => state.axes === "log", () => { state.axes = state.axes === "log" ? "linear" : "log"; moved(); });
  const sustained = form.toggle("sustained rates", () => rates.every((name) => state.fields[name] === desk.sustained[name]), () => { const to = rates.every((name) => state.fields[name] === 1); for (const name of rates) set(name, to ? desk.sustained[name] : 1); moved(); });
  const answer = element("output", { class: "solver-answer desk-answer", "aria-live": "polite", "aria-atomic": "true" });
  const holder = element("div", { class: "drawing" }), caption = element("figcaption"), roofOf = element("div", { class: "drawing" }), roofSaid = element("figcaption"), way = element("ol", { class: "desk-way" }), typedOf = element("code");

  const beside = element("button", { type: "button", onclick: () => { state.beside = state.beside ? null : { pairs: pairs(), chosen: chosen() }; moved(); } });

  function set(name, value) { state.fields[name] = value; knobs[name].set(value); }

  /** Numbers of an own chip or model are fields while it is chosen, and a layout sets how many chips have the cache and the weights of attention. */
  function settle() {
    for (const name of owns) { knobs[name].root.hidden = start(name) === null; if ((start(name) === null) !== (state.fields[name] === null)) set(name, start(name)); }
    const { chips: count } = state.fields, { kv_heads: heads } = desk.models[state.model].givens;
    if (state.layout !== "even") for (const [name, value] of Object.entries({ tp: { kv_replication: heads ? Math.max(1, count / heads) : count, attention_replicas: 1 }, dp: { kv_replication: 1, attention_replicas: count } }[state.layout])) if (state.fields[name] !== value) set(name, value);
  }

  // -- the address --
  const pairs = () => [
    ...Object.keys(usual).filter((key) => state[key] !== usual[key]).map((key) => [key, state[key]]),
    ...names.filter((name) => state.fields[name] !== start(name)).map((name) => [name, state.fields[name] === null ? "" : form.typedFor(quantities[name], state.fields[name])])];

  /** The deployment of a link, and the one beside it. */
  function fromAddress() {
    const all = form.asked(), other = all.find(([key]) => key === "beside");
    state.beside = null;
    if (other) { take([...new URLSearchParams(other[1])]); state.beside = { pairs: pairs(), chosen: chosen() }; }
    take(all.filter((pair) => pair !== other));
    sized();
  }
  function take(asked) {
    const texts = new Map(asked), fits = (key, text) => (key === "axes" ? text === "log" : Object.hasOwn(choices, key) && [...choices[key].select.options].some(({ value }) => value === text));
    for (const key of Object.keys(usual)) state[key] = fits(key, texts.get(key)) ? texts.get(key) : usual[key];
    form.fill(knobs, state.fields = Object.fromEntries(names.map((name) => [name, start(name)])), texts);
    state.priced = ![rent(), null].includes(state.fields[PRICE]);
    notice.textContent = form.refused(asked.filter(([key, text]) => !names.includes(key) && !fits(key, text)));
    settle();
  }
  function changed(name, knob) {
    if (!knob.wrong) state.fields[name] = knob.value;
    if (name === PRICE) state.priced = knob.value !== null;
    if (["kv_replication", "attention_replicas"].includes(name)) state.layout = "even";
    moved();
  }

  // -- saying --
  function sized() {
    for (const [key, one] of Object.entries(choices)) one.select.value = state[key];
    for (const one of [axes, sustained]) one.tell();
    beside.textContent = state.beside ? "Show one deployment" : "Keep beside";
    const wrong = names.find((name) => knobs[name].wrong), found = deployed(desk, chosen());
    const why = wrong ? `${words(wrong)} cannot be used as it stands` : found.unmet.map((one) => one.otherwise || one.said).join("; ");
    answer.replaceChildren(...(why ? [element("p", { class: "solver-none" }, `No answer: ${why}.`)] : told(found, state.beside && deployed(desk, state.beside.chosen))));
    for (const part of [roofOf, holder, way, typedOf]) part.replaceChildren();
    if (!why) { wayOf(found); drawRoof(found); draw(found); }
  }

  const bounded = (name, value) => `${show(quantities[name], value)}${{ lower: " or more", upper: " or less" }[desk.bounds[name]] || ""}`;
  const fact = (title, value, more = "", other = "") => element("div", { class: "desk-fact" }, element("span", {}, title), element("strong", {}, value), element("small", {}, more), other ? element("em", {}, `beside: ${other}`) : null);

  /** What is to be said of the price of a chip. */
  const ofPrice = () => [...(rent() === null ? [`The table has no rent of ${chosen().chip}.`] : []), ...(state.fields[PRICE] === null ? ["Set the chip price to see the cost per token."] : rent() === null ? ["The chip price is the one that you set."] : [])];

  function told({ values, binds, fits }, other) {
    const size = (value) => show(quantities.hbm_capacity, value), { longest } = desk.models[state.model];
    const most = mostThatFits(desk, chosen(), "batch"), least = fits ? null : fewestThatFit(desk, chosen(), "chips");
    const ways = [...(least === null ? [] : [`${least} chips`]), ...(most ? [`a batch of ${most}`] : [])];
    const room = fits ? (most === null ? "any batch fits" : `a batch of ${most} still fits`) : ways.length ? `it fits with ${ways.join(", or ")}` : "it fits on no number of chips";
    const notes = [...(longest && state.fields.context_length > longest ? [`${state.model} was published for at most ${show(quantities.context_length, longest)}.`] : []), ...ofPrice()];
    const memory = fact(fits ? "fits: memory per chip" : "does not fit: memory per chip", `${size(values.memory_per_chip)} of ${size(values.hbm_capacity)}`, room, other ? `${size(other.values.memory_per_chip)} of ${size(other.values.hbm_capacity)}` : "");
    const result = (title, name, more) => (name in values ? fact(title, bounded(name, values[name]), more, other && name in other.values ? bounded(name, other.values[name]) : "") : null);
    const facts = [
      result("step time", "step_time", `limited by ${binds}`), result("tokens/s per user", "tokens_per_second_per_user"), result("throughput", "throughput", "of all chips"),
      result("cost per token", "cost_per_token", "output tokens, with a full batch"), result("time to first token", "time_to_first_token", "one prompt, no queue")];
    const come = element("div", { class: `desk-facts${fits ? "" : " desk-supposed"}` }, ...facts, fits ? memory : null);
    const short = fits ? [] : [element("p", { class: "desk-note" }, "It does not fit. Times and costs are for chips with more memory."), element("div", { class: "desk-facts" }, memory)];
    const kept = other ? [element("p", {}, `Beside: ${state.beside.chosen.model} on ${state.beside.chosen.fields.chips} ${state.beside.chosen.chip} in ${state.beside.chosen.dtype}, batch ${state.beside.chosen.fields.batch}${other.fits ? "" : ", does not fit"}.`)] : [];
    return [...short, come, ...kept, ...notes.map((note) => element("p", { class: "desk-note" }, note))];
  }

  function wayOf(found) {
    typedOf.textContent = command(desk, chosen(), found, quantities);
    way.replaceChildren(...found.legs.map((leg) => element("li", {}, element("a", { href: `../eq/${leg.id}/index.html` }, leg.id), ` ${leg.makes.replaceAll("_", " ")} = ${show(quantities[leg.makes], found.values[leg.makes])}`)));
  }

  // -- drawing --
  const PLACES = 64, NEAR = 2.5, FAR = 30, TALL = 6;

  function draw(found) {
    const x = quantities[state.over], y = quantities[state.picture], here = state.fields[state.over], log = state.axes === "log", value = found.values[state.picture];
    caption.textContent = value === undefined ? `No picture. ${ofPrice().join(" ")}` : "";
    if (value === undefined) return;
    const low = log ? Math.max(here / FAR, x.least) : 0, high = Math.min(here * (log ? FAR : NEAR), x.most), at = Array.from({ length: PLACES }, (_, k) => (log ? low * (high / low) ** ((k + 1) / PLACES) : (high * (k + 1)) / PLACES));
    const rows = at.map((one) => ({ at: one, ...withField(desk, chosen(), state.over, one) })).filter(({ unmet }) => !unmet.length), line = (of, label, role, dashed = false) => ({ words: label, role, dashed, points: rows.map((row) => [row.at, of(row.values)]) });
    const arithmetic = found.legs.find((leg) => leg.binding).binding.find(({ binds }) => binds === "arithmetic").wins[0].larger;
    const lines = {
      step_time: [line((values) => engine.valueOf(arithmetic, values), "compute", "compute"), line((values) => values.weight_time, "weights", "weights"), line((values) => values.kv_time, "KV cache", "kv"), line((values) => values.memory_time, "weights + KV", "weights", true)],
      memory_per_chip: [line((values) => values.hbm_capacity, "a chip has", "price", true)] }[state.picture] || [];
    const all = [...lines, line((values) => values[state.picture], words(state.picture), "total")], most = Math.max(...all.flatMap(({ points }) => points.map(([, one]) => one))), short = rows.filter(({ fits }) => !fits).map((row) => row.at);
    const label = `${words(state.picture)} over ${words(state.over)}`;
    caption.textContent = label + (short.length ? `. Memory is short from ${show(x, short[0])} to ${show(x, short[short.length - 1])}` : "");
    holder.replaceChildren(chart.draw({
      x: { row: x, words: words(state.over), log, low, high }, y: { row: y, words: words(state.picture), log, high: log ? undefined : 1.04 * Math.min(most, TALL * value) }, lines: all,
      rules: short.length && short[0] > at[0] ? [{ x: short[0], words: "memory is short" }] : [], dots: [{ x: here, y: value, words: "here", role: "text" }], told: `${label}; at ${show(x, here)} it is ${show(y, value)}` }, holder.clientWidth));
  }

  /** The roofline of the chip with the point that the step works at. */
  function drawRoof({ values }) {
    const { roof } = desk, all = { ...roof.given, ...values }, [intensity, rate] = pointOf(roof, values), [x, y] = roof.rows, bend = engine.valueOf(roof.ridge, all), low = Math.min(bend, intensity) / 10, high = Math.max(bend, intensity) * 10;
    const points = [low, bend, high].map((at) => [at, engine.valueOf(roof.attainable, { ...all, intensity: at })]);
    roofSaid.textContent = `Roofline: the step runs at ${show(y, rate)} ${roof.of} at ${show(x, intensity)}; the ridge is at ${show(x, bend)}`;
    roofOf.replaceChildren(chart.draw({
      x: { row: null, words: roof.called, log: true, low, high }, y: { row: y, words: `rate ${roof.of}`, log: true }, lines: [{ words: "peaks", role: "compute", points }],
      dots: [{ x: intensity, y: rate, words: "the step", role: "text", label: true }], told: roofSaid.textContent }, roofOf.clientWidth));
  }

  // -- which batch, context or chips meet a target --
  const wanted = { name: "batch", goal: "step_time" }, found = element("p", { role: "status" }), target = element("input", { type: "text", "aria-label": "wanted", value: "30 ms", onchange: backwards });
  const pick = (label, key, options) => form.choice(label, options.map((name) => [name, words(name)]), null, (value) => { wanted[key] = value; target.value = show(quantities[wanted.goal], deployed(desk, chosen()).values[wanted.goal] ?? 0, 3); }).root;
  function backwards() {
    const { name, goal } = wanted, asked = form.read(quantities[goal], target.value, form.unitOf(quantities[goal], deployed(desk, chosen()).values[goal] ?? 1)), row = quantities[name];
    const value = "value" in asked ? solvedFor(desk, chosen(), name, goal, asked.value, { low: row.whole ? 1 : row.low, high: Math.min(row.most, 1e7), whole: row.whole || name === "batch" }) : null;
    found.textContent = "fault" in asked ? `${words(goal)} ${asked.fault}` : value === null ? `No ${words(name)} gives a ${words(goal)} of ${target.value} here.` : `${words(name)} = ${show(row, value)} for a ${words(goal)} of ${target.value}.`;
    if (value !== null) { set(name, value); moved(); }
  }

  place.classList.add("solver");
  place.replaceChildren(
    element("div", { class: "solver-choices" }, choices.hardware.root, choices.model.root, choices.layout.root, sustained.root, beside, link()), notice, answer,
    element("div", { class: "desk-both" },
      element("div", {}, element("div", { class: "knobs" }, ...names.map((name) => knobs[name].root)),
        element("form", { class: "solver-choices desk-find", "aria-label": "Solve backwards", onsubmit: (event) => { event.preventDefault(); backwards(); } }, pick("Find", "name", OVER), pick("for", "goal", Object.keys(GOALS)), target, element("button", {}, "Solve")), found),
      element("div", {}, element("div", { class: "solver-choices" }, choices.picture.root, choices.over.root, axes.root), element("figure", { class: "solver-figure" }, holder, caption))),
    element("figure", { class: "solver-figure" }, roofOf, roofSaid),
    element("details", {}, element("summary", {}, "Every equation on the way, with its value"), way),
    element("p", {}, "The same at the command line, with every assumption: ", typedOf));
  form.live(fromAddress, sized);
})();
