//! The JSON object. Fractions are texts, exact; frequencies are counts.

use counterpoint::Bracket;
use counterpoint_numerics::fractions::Ratio;
use counterpoint_papers::pair::{Events, Map, Pair, Side};
use serde::Serialize;

use super::file::{FilePair, Place};
use super::found::{
    Answered, Divergence, Divergences, Drawn, LaplaceRow, LeastDelta, LeastDeltas, Left, Refuted,
    Simulated, SimulatedLaplace, SimulatedStage, SimulatedSystem,
};
use super::written;

impl Simulated {
    /// The `simulate --json` object.
    ///
    /// # Errors
    /// None that could happen: all of it is text and whole numbers.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&Object {
            stages: self.stages.iter().map(stage).collect(),
            systems: self.systems.iter().map(system).collect(),
            source: self.pairs.as_ref().map(|pairs| named_pair(&pairs[0])),
            target: self.pairs.as_ref().map(|pairs| named_pair(&pairs[1])),
            laplace: self.laplace.as_ref().map(laplace),
            map: self.map.as_ref().map(rows),
            parts_agree: self.parts_agree,
            whole_agrees: self.whole_agrees,
            size: self.size.map(|size| size.to_string()),
            samples: self.samples,
            seed: self.seed,
            transcripts: self.transcripts.iter().map(drawn).collect(),
            theorem: self.theorem(),
            divergences: self.divergences.as_ref().map(divergences),
            profile: self.profile.iter().map(least_deltas).collect(),
        })
    }

    /// What is run forwards.
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

impl Refuted {
    /// The `simulate --json` object of a claim that does not hold.
    ///
    /// # Errors
    /// None that could happen.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string(&RefutedObject {
            refuted: Claim {
                of: self.of,
                index: self.index,
                name: &self.name,
                ratio: written(&self.ratio),
                delta: written(&self.delta),
                event: &self.event,
                p: written(&self.masses[0]),
                q: written(&self.masses[1]),
                too_likely_under: ["p", "q"][self.side.min(1)],
            },
        })
    }
}

fn texts(list: &[Ratio]) -> Vec<String> {
    list.iter().map(written).collect()
}

fn rows(map: &Map) -> Vec<Vec<String>> {
    map.rows().iter().map(|row| texts(row)).collect()
}

fn stage(own: &SimulatedStage) -> StageObject<'_> {
    let each = own.stage.mechanisms.iter().zip(&own.maps);
    let mechanisms = each.map(|(mechanism, (events, map))| MechanismObject {
        name: &mechanism.name,
        outcomes: &mechanism.outcomes,
        events: event(events),
        map: rows(map),
    });
    StageObject {
        name: own.stage.name.as_deref(),
        ratio: written(&own.stage.ratio),
        delta: written(&own.stage.delta),
        mechanisms: mechanisms.collect(),
    }
}

fn event(events: &Events) -> EventsObject {
    let column = |of: &dyn Fn(&counterpoint_papers::pair::Part) -> Ratio| {
        events.outcomes.iter().map(|part| written(&of(part))).collect()
    };
    let set = |side: Side| match side {
        Side::First => "S",
        Side::Second => "T",
        Side::Between => "",
    };
    EventsObject {
        alpha: written(&events.excess[0]),
        beta: written(&events.excess[1]),
        p: column(&|part| part.masses[0].clone()),
        q: column(&|part| part.masses[1].clone()),
        e: column(&|part| part.kept[0].clone()),
        f: column(&|part| part.kept[1].clone()),
        set: events.outcomes.iter().map(|part| set(part.side)).collect(),
    }
}

fn system(own: &SimulatedSystem) -> SystemObject<'_> {
    SystemObject {
        name: &own.system.name,
        ratio: written(&own.system.ratio),
        delta: written(&own.system.delta),
        answers: own.answers.iter().map(answered).collect(),
        pair: own.pair.as_ref().map(pair),
    }
}

fn pair(own: &Pair) -> PairObject {
    let side = |b: usize| own.outcomes().iter().map(|masses| written(&masses[b])).collect();
    PairObject { p: side(0), q: side(1) }
}

fn named_pair(own: &FilePair) -> NamedPairObject<'_> {
    NamedPairObject { name: &own.name, outcomes: &own.outcomes, pair: pair(&own.pair) }
}

fn laplace(own: &SimulatedLaplace) -> LaplaceObject {
    let row = |row: &LaplaceRow| LaplaceRowObject {
        at: row.at,
        plus: row.responses[0],
        minus: row.responses[1],
        mixed: row.mixed,
        laplace: row.laplace,
        drawn: row.drawn,
    };
    LaplaceObject { epsilon: own.epsilon, rows: own.rows.iter().map(row).collect() }
}

fn least_deltas(own: &LeastDeltas) -> LeastDeltasObject {
    let (ratio, epsilon) = match &own.place {
        Place::Ratio(ratio) => (Some(written(ratio)), None),
        Place::Epsilon(epsilon) => (None, Some(written(epsilon))),
    };
    let both = |deltas: &[LeastDelta; 2]| deltas.each_ref().map(least_delta);
    let parts = own.parts.iter();
    let parts = parts.map(|(name, deltas)| PartObject { name: name.clone(), least: both(deltas) });
    let together = own.together.as_ref().map(both);
    LeastDeltasObject { ratio, epsilon, parts: parts.collect(), together }
}

fn least_delta(own: &LeastDelta) -> LeastDeltaObject {
    let Bracket { lower, upper } = own.bracket();
    LeastDeltaObject { exact: own.exact().map(written), lower, upper }
}

fn answered(own: &Answered) -> AnsweredObject<'_> {
    let [e0, n0, n1, e1] = own.voices.each_ref().map(written);
    let [p, q] = own.real.each_ref().map(written);
    AnsweredObject {
        after: &own.after,
        query: &own.query,
        answer: &own.answer,
        p,
        q,
        e0,
        n0,
        n1,
        e1,
    }
}

fn divergences(own: &Divergences) -> DivergencesObject<'_> {
    DivergencesObject {
        order: own.order,
        systems: own.systems.iter().map(divergence).collect(),
        sums: ends(&own.sums),
        searched: own.searched.as_ref().map(ends),
        left: own.left.iter().map(left).collect(),
    }
}

fn divergence(own: &Divergence) -> DivergenceObject<'_> {
    let asks = own.asks.iter().map(|(after, query)| AskObject { after, query });
    DivergenceObject { name: &own.name, largest: ends(&own.largest), asks: asks.collect() }
}

fn left(own: &Left) -> LeftObject<'_> {
    LeftObject { said: &own.said, weight: written(&own.weight), moment: written(&own.left) }
}

fn ends(both: &[Bracket; 2]) -> [Ends; 2] {
    both.map(|bracket| Ends { lower: bracket.lower, upper: bracket.upper })
}

fn drawn(own: &Drawn) -> DrawnObject<'_> {
    let [p, q] = own.law.each_ref().map(written);
    DrawnObject { said: &own.said, p, q, drawn_p: own.counts[0], drawn_q: own.counts[1] }
}

#[derive(Serialize)]
struct Object<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stages: Vec<StageObject<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    systems: Vec<SystemObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<NamedPairObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<NamedPairObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    laplace: Option<LaplaceObject>,
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<Vec<Vec<String>>>,
    parts_agree: bool,
    whole_agrees: Option<bool>,
    size: Option<String>,
    samples: u64,
    seed: u64,
    transcripts: Vec<DrawnObject<'a>>,
    theorem: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    divergences: Option<DivergencesObject<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profile: Vec<LeastDeltasObject>,
}

#[derive(Serialize)]
struct PairObject {
    p: Vec<String>,
    q: Vec<String>,
}

#[derive(Serialize)]
struct NamedPairObject<'a> {
    name: &'a str,
    outcomes: &'a [String],
    #[serde(flatten)]
    pair: PairObject,
}

#[derive(Serialize)]
struct LaplaceObject {
    epsilon: f64,
    rows: Vec<LaplaceRowObject>,
}

#[derive(Serialize)]
struct LaplaceRowObject {
    at: f64,
    plus: f64,
    minus: f64,
    mixed: [f64; 2],
    laplace: [f64; 2],
    drawn: [u64; 2],
}

/// Of p from q, and of q from p.
#[derive(Serialize)]
struct LeastDeltasObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    ratio: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    epsilon: Option<String>,
    parts: Vec<PartObject>,
    together: Option<[LeastDeltaObject; 2]>,
}

#[derive(Serialize)]
struct PartObject {
    name: String,
    least: [LeastDeltaObject; 2],
}

/// The fraction, if it is known, and doubles on either side.
#[derive(Serialize)]
struct LeastDeltaObject {
    #[serde(skip_serializing_if = "Option::is_none")]
    exact: Option<String>,
    lower: f64,
    upper: f64,
}

#[derive(Serialize)]
struct DivergencesObject<'a> {
    order: f64,
    systems: Vec<DivergenceObject<'a>>,
    sums: [Ends; 2],
    searched: Option<[Ends; 2]>,
    left: Vec<LeftObject<'a>>,
}

#[derive(Serialize)]
struct DivergenceObject<'a> {
    name: &'a str,
    largest: [Ends; 2],
    asks: Vec<AskObject<'a>>,
}

/// Infinite ends are null.
#[derive(Serialize)]
struct Ends {
    lower: f64,
    upper: f64,
}

#[derive(Serialize)]
struct AskObject<'a> {
    after: &'a [String],
    query: &'a str,
}

#[derive(Serialize)]
struct LeftObject<'a> {
    said: &'a str,
    weight: String,
    moment: String,
}

#[derive(Serialize)]
struct StageObject<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    ratio: String,
    delta: String,
    mechanisms: Vec<MechanismObject<'a>>,
}

#[derive(Serialize)]
struct MechanismObject<'a> {
    name: &'a str,
    outcomes: &'a [String],
    events: EventsObject,
    map: Vec<Vec<String>>,
}

#[derive(Serialize)]
struct EventsObject {
    alpha: String,
    beta: String,
    p: Vec<String>,
    q: Vec<String>,
    e: Vec<String>,
    f: Vec<String>,
    set: Vec<&'static str>,
}

#[derive(Serialize)]
struct SystemObject<'a> {
    name: &'a str,
    ratio: String,
    delta: String,
    answers: Vec<AnsweredObject<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pair: Option<PairObject>,
}

#[derive(Serialize)]
struct AnsweredObject<'a> {
    after: &'a [String],
    query: &'a str,
    answer: &'a str,
    p: String,
    q: String,
    e0: String,
    n0: String,
    n1: String,
    e1: String,
}

#[derive(Serialize)]
struct DrawnObject<'a> {
    said: &'a [String],
    p: String,
    q: String,
    drawn_p: u64,
    drawn_q: u64,
}

#[derive(Serialize)]
struct RefutedObject<'a> {
    refuted: Claim<'a>,
}

#[derive(Serialize)]
struct Claim<'a> {
    of: &'a str,
    index: usize,
    name: &'a str,
    ratio: String,
    delta: String,
    event: &'a [Vec<String>],
    p: String,
    q: String,
    too_likely_under: &'a str,
}
