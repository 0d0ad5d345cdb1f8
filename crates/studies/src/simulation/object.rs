//! Simulations as JSON. Fractions are exact texts; frequencies are counts.

use counterpoint::Bracket;
use counterpoint_numerics::fractions::Ratio;
use counterpoint_papers::pair::{EventOutcome, Events, Map, Pair, Side};
use counterpoint_wire::document::{Object, bounds_object};
use counterpoint_wire::fraction_text;

use super::file::{DeltaPoint, FilePair};
use super::result::{
    AnswerLaw, Counterexample, Divergence, Divergences, LaplaceResult, LaplaceRow, LeastDelta,
    LeastDeltas, MonitorState, SimulationResult, StageResult, SystemResult, Transcript,
};

impl SimulationResult {
    /// The `simulate --json` object.
    ///
    /// # Errors
    /// None in practice: all fields are text and whole numbers.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        Object::new()
            .list("stages", &all(&self.stages, stage))
            .list("systems", &all(&self.systems, system))
            .some("source", self.pairs.as_ref().map(|pairs| named_pair(&pairs[0])))
            .some("target", self.pairs.as_ref().map(|pairs| named_pair(&pairs[1])))
            .some("laplace", self.laplace.as_ref().map(laplace))
            .some("map", self.map.as_ref().map(rows))
            .field("parts_agree", self.parts_agree)
            .field("whole_agrees", self.whole_agrees)
            .field("size", self.size.map(|size| size.to_string()))
            .field("samples", self.samples)
            .field("seed", self.seed)
            .field("transcripts", all(&self.transcripts, drawn))
            .field("theorem", self.theorem())
            .some("divergences", self.divergences.as_ref().map(divergences))
            .list("profile", &all(&self.profile, least_deltas))
            .json()
    }

    /// The theorem whose proof the simulation runs.
    #[must_use]
    pub fn theorem(&self) -> &'static str {
        if self.pairs.is_some() {
            "Kairouz, Oh and Viswanath 2017, Theorem II.5 (Blackwell)"
        } else if self.laplace.is_some() {
            "Smith, lecture on advanced composition, Exercise 3.2"
        } else if self.systems.is_empty() {
            "Murtagh and Vadhan 2018, Lemmas 3.2 and 3.3, Theorem 3.5"
        } else {
            "Lyu 2022, Theorem 3"
        }
    }
}

impl Counterexample {
    /// The `simulate --json` object of a refuted claim.
    ///
    /// # Errors
    /// None in practice.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let [p, q] = self.masses.each_ref().map(fraction_text);
        let claim = Object::new()
            .field("of", self.kind)
            .field("index", self.index)
            .field("name", &self.name)
            .field("ratio", fraction_text(&self.ratio))
            .field("delta", fraction_text(&self.delta))
            .field("event", &self.event)
            .field("p", p)
            .field("q", q)
            .field("too_likely_under", ["p", "q"][self.side.min(1)]);
        Object::new().field("refuted", claim).json()
    }
}

fn all<T>(list: &[T], object: fn(&T) -> Object) -> Vec<Object> {
    list.iter().map(object).collect()
}

fn texts(list: &[Ratio]) -> Vec<String> {
    list.iter().map(fraction_text).collect()
}

fn rows(map: &Map) -> Vec<Vec<String>> {
    map.rows().iter().map(|row| texts(row)).collect()
}

fn stage(own: &StageResult) -> Object {
    let each = own.stage.mechanisms.iter().zip(&own.maps);
    let mechanisms = each.map(|(mechanism, (events, map))| {
        Object::new()
            .field("name", &mechanism.name)
            .field("outcomes", &mechanism.outcomes)
            .field("events", event(events))
            .field("map", rows(map))
    });
    Object::new()
        .some("name", own.stage.name.as_deref())
        .field("ratio", fraction_text(&own.stage.ratio))
        .field("delta", fraction_text(&own.stage.delta))
        .field("mechanisms", mechanisms.collect::<Vec<_>>())
}

fn event(events: &Events) -> Object {
    let column = |of: fn(&EventOutcome) -> &Ratio| -> Vec<String> {
        events.outcomes.iter().map(|part| fraction_text(of(part))).collect()
    };
    let set = |part: &EventOutcome| match part.side {
        Side::First => "S",
        Side::Second => "T",
        Side::Between => "",
    };
    Object::new()
        .field("alpha", fraction_text(&events.excess[0]))
        .field("beta", fraction_text(&events.excess[1]))
        .field("p", column(|part| &part.masses[0]))
        .field("q", column(|part| &part.masses[1]))
        .field("e", column(|part| &part.kept[0]))
        .field("f", column(|part| &part.kept[1]))
        .field("set", events.outcomes.iter().map(set).collect::<Vec<_>>())
}

fn system(own: &SystemResult) -> Object {
    Object::new()
        .field("name", &own.system.name)
        .field("ratio", fraction_text(&own.system.ratio))
        .field("delta", fraction_text(&own.system.delta))
        .field("answers", all(&own.answers, answered))
        .some("pair", own.pair.as_ref().map(|own| pair(Object::new(), own)))
}

/// Adds the masses of a pair.
fn pair(object: Object, own: &Pair) -> Object {
    let side = |b: usize| {
        own.outcomes().iter().map(|masses| fraction_text(&masses[b])).collect::<Vec<_>>()
    };
    object.field("p", side(0)).field("q", side(1))
}

fn named_pair(own: &FilePair) -> Object {
    pair(Object::new().field("name", &own.name).field("outcomes", &own.outcomes), &own.pair)
}

fn laplace(own: &LaplaceResult) -> Object {
    let row = |row: &LaplaceRow| {
        Object::new()
            .field("at", row.at)
            .field("plus", row.responses[0])
            .field("minus", row.responses[1])
            .field("mixed", row.mixed)
            .field("laplace", row.laplace)
            .field("drawn", row.drawn)
    };
    Object::new().field("epsilon", own.epsilon).field("rows", all(&own.rows, row))
}

fn least_deltas(own: &LeastDeltas) -> Object {
    let object = match &own.point {
        DeltaPoint::Ratio(ratio) => Object::new().field("ratio", fraction_text(ratio)),
        DeltaPoint::Epsilon(epsilon) => Object::new().field("epsilon", fraction_text(epsilon)),
    };
    let both = |deltas: &[LeastDelta; 2]| deltas.each_ref().map(least_delta);
    let part = |(name, deltas): &(String, [LeastDelta; 2])| {
        Object::new().field("name", name).field("least", both(deltas))
    };
    let parts: Vec<Object> = own.parts.iter().map(part).collect();
    object.field("parts", parts).field("together", own.composition.as_ref().map(both))
}

fn least_delta(own: &LeastDelta) -> Object {
    let Bracket { lower, upper } = own.bracket();
    Object::new()
        .some("exact", own.exact().map(fraction_text))
        .field("lower", lower)
        .field("upper", upper)
}

fn answered(own: &AnswerLaw) -> Object {
    let numbers = own.real.iter().chain(&own.voices).map(fraction_text);
    let object = Object::new()
        .field("after", &own.history)
        .field("query", &own.query)
        .field("answer", &own.answer);
    let names = ["p", "q", "e0", "n0", "n1", "e1"];
    names.into_iter().zip(numbers).fold(object, |object, (name, text)| object.field(name, text))
}

fn divergences(own: &Divergences) -> Object {
    Object::new()
        .field("order", own.order)
        .field("systems", all(&own.systems, divergence))
        .field("sums", both(&own.sums))
        .field("searched", own.searched.as_ref().map(both))
        .field("left", all(&own.monitor, monitor_state))
}

fn divergence(own: &Divergence) -> Object {
    let asks = own.asks.iter();
    let asks = asks.map(|(after, query)| Object::new().field("after", after).field("query", query));
    Object::new()
        .field("name", &own.name)
        .field("largest", both(&own.largest))
        .field("asks", asks.collect::<Vec<_>>())
}

fn monitor_state(own: &MonitorState) -> Object {
    Object::new()
        .field("said", &own.step)
        .field("weight", fraction_text(&own.weight))
        .field("moment", fraction_text(&own.remaining))
}

/// Infinite ends are null.
fn both(brackets: &[Bracket; 2]) -> [Object; 2] {
    brackets.map(|bracket| bounds_object(bracket.lower, bracket.upper))
}

fn drawn(own: &Transcript) -> Object {
    let [p, q] = own.law.each_ref().map(fraction_text);
    Object::new()
        .field("said", &own.steps)
        .field("p", p)
        .field("q", q)
        .field("drawn_p", own.counts[0])
        .field("drawn_q", own.counts[1])
}
