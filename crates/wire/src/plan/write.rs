//! Writing plans as text.

use counterpoint::Count;
use serde::Deserialize;

use super::{Batches, Plan, Question, Release, Sample, adjacency_name, recipe};
use crate::catalogue;
use crate::text::error::PlanError;
use crate::text::value::{Table, Value};

impl Plan {
    /// Writes the plan in TOML. Reading that gives the same plan.
    ///
    /// # Errors
    /// [`PlanError`] if the format cannot describe a mechanism.
    pub fn to_toml(&self) -> Result<String, PlanError> {
        let table = Value::Table(fields(self)?);
        toml::to_string(&table).map_err(|error| PlanError::plan(error.to_string()))
    }

    /// Writes the plan in JSON. Reading that gives the same plan.
    ///
    /// # Errors
    /// [`PlanError`] if the format cannot describe a mechanism.
    pub fn to_json(&self) -> Result<String, PlanError> {
        let table = Value::Table(fields(self)?);
        serde_json::to_string(&table).map_err(|error| PlanError::plan(error.to_string()))
    }
}

impl Release {
    /// Replaces a number by the exact number of its field, if this is the double nearest to it.
    fn with_exact_number(&self, name: &str, value: Value<'static>) -> Value<'static> {
        match (&value, self.exact(name)) {
            (Value::Real(double), Some(number)) if number.nearest.to_bits() == double.to_bits() => {
                Value::Exact(Box::new(number.clone()))
            }
            _ => value,
        }
    }

    /// Returns the fields that describe the release in a plan. Reading them gives the same release.
    ///
    /// # Errors
    /// [`PlanError`] if the format cannot describe the mechanism.
    pub fn fields(&self) -> Result<Table<'_>, PlanError> {
        let mut table = Table::new();
        if let Some(name) = self.name.as_deref() {
            table.push(("name".into(), Value::Text(name.into())));
        }
        let described = catalogue::describe(&self.mechanism)
            .ok_or_else(|| PlanError::field("mechanism", "cannot be written in a plan"))?;
        table.extend(described.into_iter().map(|(name, value)| {
            let value = self.with_exact_number(&name, value);
            (name, value)
        }));
        let whole = |count: Count| Value::Whole(count.get().into());
        match self.sample.as_deref() {
            Some(Sample { batches: Some(Batches { examples, batch }), .. }) => {
                table.push(("examples".into(), whole(*examples)));
                table.push(("batch".into(), whole(*batch)));
            }
            Some(Sample { rate, .. }) => table.push(("rate".into(), Value::Real(rate.get()))),
            None => {}
        }
        table.push(("count".into(), whole(self.count)));
        if let Some(label) = self.partition.as_deref() {
            table.push(("partition".into(), Value::Text(label.into())));
        }
        if let Some(bundle) = &self.bundle {
            let also = bundle.also.iter().map(|release| release.fields().map(Value::Table));
            let also = also.collect::<Result<Vec<_>, _>>()?;
            if !also.is_empty() {
                table.push(("also".into(), Value::List(also)));
            }
            let wrong = |error: serde_json::Error| PlanError::field("recipe", error.to_string());
            if let Some(recipe) = &bundle.recipe {
                let value = recipe::write(recipe, bundle.shared.as_deref()).map_err(wrong)?;
                table.push(("recipe".into(), Value::deserialize(value).map_err(wrong)?));
            }
        }
        Ok(table)
    }
}

fn fields(plan: &Plan) -> Result<Table<'_>, PlanError> {
    let mut table: Table<'_> = vec![("version".into(), Value::Whole(1))];
    if let Some(question) = plan.question {
        let (name, double) = match question {
            Question::EpsilonAt(delta) => ("delta", delta.get()),
            Question::DeltaAt(epsilon) => ("epsilon", epsilon.get()),
        };
        let exact = plan
            .exact_question
            .clone()
            .filter(|number| number.nearest.to_bits() == double.to_bits());
        let value = exact.map_or(Value::Real(double), |number| Value::Exact(Box::new(number)));
        table.push((name.into(), value));
    }
    if let Some(adjacency) = plan.adjacency {
        table.push(("adjacency".into(), Value::Text(adjacency_name(adjacency).into())));
    }
    if plan.group.get() > 1 {
        table.push(("group".into(), Value::Whole(plan.group.get().into())));
    }
    if let Some(target) = plan.target {
        let mut own: Table<'_> = vec![("epsilon".into(), Value::Real(target.epsilon.get()))];
        own.extend(target.delta.map(|delta| ("delta".into(), Value::Real(delta.get()))));
        table.push(("target".into(), Value::Table(own)));
    }
    let releases = plan.releases.iter().enumerate().map(|(at, release)| {
        let fields = release.fields().map(Value::Table);
        fields.map_err(|e| e.in_release(at + 1, release.name.as_deref()))
    });
    table.push(("release".into(), Value::List(releases.collect::<Result<_, _>>()?)));
    Ok(table)
}
