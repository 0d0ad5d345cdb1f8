//! How many rows an answer is made of: a number that is public, or a count that answers share.

use super::measured::{Spend, cannot_be_measured, recipe};
use super::{Checked, Part};
use crate::illegal::Illegal;
use crate::question::Condition;
use counterpoint_mechanisms::{Contribution, Measurement, Query, Style};

impl Checked {
    /// About how many rows a part's answer is made of, if that is public.
    #[must_use]
    pub fn public_rows(&self, part: &Part) -> Option<u64> {
        let all = self.filter.is_none() && self.groupings.is_empty() && !part.skips_missing;
        self.people.filter(|_| all)
    }

    /// The question how many rows a part's answer is made of, in each group: `SELECT COUNT(*)` of the same rows, with `(condition)
    /// AND column IS NOT NULL`. `None` where that number is public, where people are counted, and where this question and that one could
    /// use different rows of a person.
    #[must_use]
    pub fn used_rows(&self, part: &Part) -> Option<Self> {
        let differ = self.chooses && (part.skips_missing || !self.groupings.is_empty());
        let is_public = self.groupings.is_empty()
            && self.contribution_to(part).is_ok_and(|contribution| match contribution {
                Contribution::Rows(relation) => relation.is_length_public(),
                Contribution::Groups(..) => false,
            });
        if part.people || differ || is_public {
            return None;
        }
        let present = |column: &String| {
            Condition::Not(Box::new(Condition::Missing { column: column.clone() }))
        };
        let mut required: Vec<&String> = part.required.iter().collect();
        required.sort();
        required.dedup();
        let mut all: Vec<Condition> = self.filter.iter().cloned().collect();
        all.extend(required.into_iter().map(present));
        let filter = if all.len() > 1 { Some(Condition::All(all)) } else { all.pop() };
        let count = Part {
            name: "count".to_owned(),
            query: Query::count(),
            column: None,
            others: Vec::new(),
            indicator: None,
            people: false,
            skips_missing: false,
            required: Vec::new(),
        };
        let whole = self.whole && !part.skips_missing;
        Some(Self { filter, parts: vec![count], whole, ..self.clone() })
    }

    /// What an aggregate is measured with if the number of its rows is measured elsewhere, with this noise.
    ///
    /// # Errors
    /// [`Illegal`] unless it is a question of one aggregate that can share such a count.
    pub fn measured_with(&self, style: Style, count: &Measurement) -> Result<Measurement, Illegal> {
        let [part] = self.parts.as_slice() else {
            return Err(Illegal::new("aggregates", format!("are {}", self.parts.len()), "1"));
        };
        let recipe = recipe(part, Spend::Style(style), 1.0);
        let made =
            recipe.and_then(|recipe| recipe.bounded_with_count(self.contribution_to(part)?, count));
        made.map_err(|error| cannot_be_measured(part, &error))
    }
}
