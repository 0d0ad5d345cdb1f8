//! A question that is ready to be asked.

use super::numbers::half_widths;
use crate::charge::text;
use crate::engine::{Held, Tabulation, Wanted, not_whole};
use counterpoint_ledger::{Hash, Request};
use counterpoint_mechanisms::Measurement;
use counterpoint_questions::Illegal;
use counterpoint_questions::public::Table;
use counterpoint_questions::question::Question;
use counterpoint_questions::{Checked, Spend};
use counterpoint_wire::ledger::{Asked, Described};
use serde::Serialize;

/// A question that is ready to be asked: legal, measured, and with its price described.
#[derive(Clone, Debug)]
pub struct Ready {
    checked: Checked,
    measured: Vec<Measurement>,
    tabulation: Tabulation,
    spend: Spend,
    asked: Asked,
    key: String,
    digest: Hash,
    /// The question of the count that its answer is computed with, if that is a release of its own.
    count: Option<Box<Ready>>,
}

/// What makes two questions the same: the question, what it may cost, and what is public about the table.
#[derive(Serialize)]
struct Same<'a> {
    version: u64,
    checked: &'a Checked,
    spend: Spend,
    slot: Option<&'a str>,
    /// The key of the count that it shares.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<&'a str>,
    public: &'a counterpoint_questions::public::TableText,
}

impl Ready {
    /// Makes a question ready. The data are not looked at.
    ///
    /// # Errors
    /// [`Illegal`] unless it is legal, by what is public.
    pub fn new(
        held: &Held,
        question: &Question,
        spend: Spend,
        slot: Option<&str>,
    ) -> Result<Self, Illegal> {
        Self::of(held, question.check(&held.public)?, spend, slot)
    }

    /// Makes a question ready that was checked against the table's own description.
    ///
    /// # Errors
    /// [`Illegal`] if no noise can be had for the cost.
    pub(crate) fn of(
        held: &Held,
        checked: Checked,
        spend: Spend,
        slot: Option<&str>,
    ) -> Result<Self, Illegal> {
        let measured = match slot {
            Some(_) => checked.measured_in_slot(spend)?,
            None => checked.measured(spend)?,
        };
        Self::measured_by(held, (checked, spend), slot, (measured, None))
    }

    /// Makes a question ready in a slot of a plan: with the count of another slot, if the slot's recipe says so.
    ///
    /// # Errors
    /// [`Illegal`] as for [`Ready::of`], and if the question cannot share that count.
    pub(crate) fn in_slot(
        held: &Held,
        (checked, spend): (Checked, Spend),
        slot: &str,
        shared: Option<(&str, &Described)>,
    ) -> Result<Self, Illegal> {
        let Some((count_slot, declared)) = shared else {
            return Self::of(held, checked, spend, Some(slot));
        };
        let cannot = || {
            let problem =
                format!("shares the count of slot {count_slot:?}, which is of other rows");
            Illegal::new(format!("slot {slot:?}"), problem, "a plan of this question")
        };
        let [part] = checked.parts() else { return Err(cannot()) };
        let used = checked.used_rows(part).ok_or_else(cannot)?;
        let query = used.parts().first().map(|part| &part.query);
        let recipe = declared.recipe().filter(|recipe| Some(recipe.query()) == query);
        let style = Spend::Style(recipe.ok_or_else(cannot)?.style());
        let count = Self::of(held, used, style, Some(count_slot))?;
        let (Spend::Style(style), [noise]) = (spend, count.measured.as_slice()) else {
            return Err(cannot());
        };
        let measured = vec![checked.measured_with(style, noise)?];
        let count = Some(Box::new(count));
        Self::measured_by(held, (checked, spend), Some(slot), (measured, count))
    }

    fn measured_by(
        held: &Held,
        (checked, spend): (Checked, Spend),
        slot: Option<&str>,
        (measured, count): (Vec<Measurement>, Option<Box<Self>>),
    ) -> Result<Self, Illegal> {
        let table = &held.public;
        let wanted = measured.iter().map(Wanted::of).collect::<Option<Vec<_>>>();
        let tabulation = Tabulation::new(&checked, &wanted.ok_or_else(not_whole)?)?;
        held.compiled(&[&tabulation])?;
        let unwritable = |error: String| Illegal::new("the question", error, "other costs");
        let described = measured.iter().flat_map(Measurement::releases).map(Described::of);
        let described = described.collect::<Result<Vec<_>, _>>();
        let described = described.map_err(|error| unwritable(error.to_string()))?;
        let asked = match slot {
            Some(name) => Asked::Slot { name: name.to_owned(), count: 1, run: described },
            None => Asked::Described(described),
        };
        let of_count = count.as_ref().map(|count| count.key());
        let (checked_of, public) = (&checked, table.text());
        let same = Same { version: 1, checked: checked_of, spend, slot, count: of_count, public };
        let digest = text::digest(&same).map_err(|error| unwritable(error.to_string()))?;
        let key = format!("q-{digest}");
        Ok(Self { checked, measured, tabulation, spend, asked, key, digest, count })
    }

    /// The same with this confidence of the intervals that are drawn with quantiles, if they are not in a slot. It is no other
    /// question, and costs the same.
    ///
    /// # Errors
    /// [`Illegal`] unless the confidence is strictly between 0 and 1.
    pub(crate) fn at(mut self, confidence: f64) -> Result<Self, Illegal> {
        if !matches!(self.asked, Asked::Slot { .. }) {
            self.measured = self.checked.measured_at(self.spend, confidence)?;
        }
        Ok(self)
    }

    /// The question.
    #[must_use]
    pub fn checked(&self) -> &Checked {
        &self.checked
    }

    /// What it may cost.
    #[must_use]
    pub fn spend(&self) -> Spend {
        self.spend
    }

    /// The key under which it is charged, once for each account.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The question of the count that its answer is computed with, if that is a release of its own.
    #[must_use]
    pub fn count(&self) -> Option<&Self> {
        self.count.as_deref()
    }

    /// The slot that pays for it.
    pub(super) fn slot(&self) -> &str {
        match &self.asked {
            Asked::Slot { name, .. } => name,
            _ => "",
        }
    }

    /// What each aggregate is measured with.
    #[must_use]
    pub fn measured(&self) -> &[Measurement] {
        &self.measured
    }

    /// For each aggregate its name, and its half-width on the worst data, as far as that is public; in ranks for
    /// quantiles.
    ///
    /// # Errors
    /// [`Illegal`] unless the confidence is strictly between 0 and 1.
    pub fn half_widths(&self, confidence: f64) -> Result<Vec<(String, Option<f64>)>, Illegal> {
        half_widths(&self.checked, &self.measured, confidence)
    }

    /// What is counted for it.
    #[must_use]
    pub fn tabulation(&self) -> &Tabulation {
        &self.tabulation
    }

    /// What the ledger is asked for by an account.
    pub(super) fn request<'a>(&'a self, account: &'a str, table: &Table) -> Request<'a> {
        let request = Request::new(account, &self.key, &self.asked).under(table.relation());
        Request { question: Some(self.digest), ..request }
    }
}
