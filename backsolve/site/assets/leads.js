// What a chip and a model say of an equation: its quantities that they set, and those that other equations make of what they set.
"use strict";

(function (root) {
  const { engine, form } = typeof module === "undefined" ? root.backsolve : { engine: require("./solver.js"), form: require("./form.js") };

  const namesIn = (tree) => (Array.isArray(tree) ? tree.slice(1).flatMap(namesIn) : typeof tree === "string" ? [tree] : []);

  /** Of equations in their order those that lead to some quantities. */
  function leadingTo(legs, names) {
    const wanted = new Set(names), found = [];
    for (const leg of [...legs].reverse()) {
      if (!wanted.has(leg.makes)) continue;
      found.unshift(leg);
      for (const name of namesIn(leg.right)) wanted.add(name);
    }
    return found;
  }

  /** The equations that may lead to a quantity of another: not that one itself, and none that begins with what it is asked for or defines. */
  const apart = (legs, equation, unknown) => legs.filter(({ id, makes }) => id !== equation.id && makes !== equation.symbols[0] && makes !== unknown);

  /** All quantities that a chip or a model has to set, if it is to say anything of an equation. */
  function sought(presets, equation) {
    const found = new Set(equation.symbols);
    const reached = () => apart(presets.legs, equation).filter((leg) => found.has(leg.makes)).flatMap((leg) => namesIn(leg.right)).filter((name) => !found.has(name));
    for (let more = reached(); more.length; more = reached()) for (const name of more) found.add(name);
    return found;
  }

  /** Each equation in its order worked out, as far as all that it rests on is there. */
  function followed(legs, given) {
    const values = { ...given };
    for (const leg of legs) {
      if (leg.makes in values || !namesIn(leg.right).every((name) => name in values)) continue;
      const made = engine.valueOf(leg.right, values);
      if (Number.isFinite(made)) values[leg.makes] = made;
    }
    return values;
  }

  /**
   * What a chip and a model say of an equation that is solved for one of its quantities, `values` and `beside` being what is chosen.
   * `found` are quantities of the equation, `legs` the equations that led there, `rests` what is chosen beside it that they rest on.
   */
  function lead(presets, { chip, dtype, model }, equation, unknown, values, beside) {
    const preset = form.presetOf(presets, chip, dtype, model), legs = apart(preset.legs, equation, unknown), made = new Set(legs.map((leg) => leg.makes));
    const others = equation.symbols.filter((name) => name !== unknown && name !== equation.symbols[0]);
    const own = Object.fromEntries(others.filter((name) => !(name in preset.givens) && !made.has(name)).map((name) => [name, values[name]]));
    const given = { ...preset.defaults, ...beside, ...preset.givens, ...own };
    for (const name of [unknown, equation.symbols[0]]) delete given[name];
    const all = followed(legs, given), found = {};
    for (const name of equation.symbols) {
      if (name in preset.givens) found[name] = preset.givens[name];
      else if (others.includes(name) && made.has(name) && name in all) found[name] = all[name];
    }
    const used = leadingTo(legs.filter(({ makes }) => makes in all), Object.keys(found).filter((name) => made.has(name)));
    const rests = new Set(used.flatMap((leg) => namesIn(leg.right)));
    return {
      found, values: all, legs: used, rests: Object.keys(presets.beside).filter((name) => rests.has(name) && !(name in preset.givens) && !(name in own)),
      unmet: used.flatMap((leg) => engine.broken(leg, all)) };
  }

  const AT = { balance_batch: "batch", balance_context: "context_length" }; // where a step is drawn whose page speaks of where it balances

  /**
   * A deployment with the quantities of an equation in it: all its `values`, what is chosen beside them that its step `rests` on,
   * and what it is drawn `at`; null where its times do not rest on those quantities.
   */
  function deployed(presets, { chip, dtype, model }, equation, values, beside, times) {
    const preset = form.presetOf(presets, chip, dtype, model), at = Object.keys(AT).filter((name) => equation.symbols.includes(name) && !equation.symbols.includes(AT[name]));
    const own = Object.fromEntries([...equation.symbols.map((name) => [name, values[name]]), ...at.map((name) => [AT[name], values[name]])]);
    const legs = preset.legs.filter(({ makes }) => !(makes in own)), resting = new Set([...times, ...leadingTo(legs, times).flatMap((leg) => namesIn(leg.right))]);
    const all = followed(legs, { ...preset.defaults, ...beside, ...preset.givens, ...own });
    if (!Object.keys(own).some((name) => resting.has(name)) || !times.every((name) => all[name] > 0)) return null;
    return { values: all, rests: Object.keys(presets.beside).filter((name) => resting.has(name) && !(name in preset.givens) && !(name in own)), at: at.map((name) => AT[name]) };
  }

  const leads = { deployed, lead, namesIn, sought };
  if (typeof module !== "undefined") module.exports = leads;
  else root.backsolve.leads = leads;
})(globalThis);
