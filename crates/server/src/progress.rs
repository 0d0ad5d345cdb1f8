//! The progress of plans, by the names that clients gave them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::http::HeaderMap;

/// The longest name, in bytes.
const MAX_NAME_BYTES: usize = 64;
const STEPS: f64 = 1000.0;

/// The plans in progress, by name: at most one for each client.
#[derive(Clone, Debug, Default)]
pub(crate) struct RunningPlans(Arc<Mutex<HashMap<String, Progress>>>);

/// The progress of one plan.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress(Arc<AtomicU32>);

/// A plan in progress; it is listed until it is dropped.
pub(crate) struct RunningPlan {
    plans: RunningPlans,
    name: Option<String>,
    pub(crate) progress: Progress,
}

/// Returns the name in the header `Plan-Name`: letters, digits and hyphens.
pub(crate) fn plan_name(head: &HeaderMap) -> Option<&str> {
    let name = head.get("plan-name")?.to_str().ok()?;
    let is_legal = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let legal = (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(is_legal);
    legal.then_some(name)
}

impl RunningPlans {
    /// Lists a plan under its name. If another running plan has the name, the new plan is not listed.
    pub(crate) fn begin(&self, name: Option<&str>) -> RunningPlan {
        let progress = Progress::default();
        let mut list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = name.filter(|name| !list.contains_key(*name)).map(str::to_owned);
        if let Some(name) = &name {
            list.insert(name.clone(), progress.clone());
        }
        RunningPlan { plans: self.clone(), name, progress }
    }

    /// The progress of a plan, from 0 to 1; `None` if no plan has the name.
    pub(crate) fn fraction(&self, name: &str) -> Option<f64> {
        let list = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Some(f64::from(list.get(name)?.0.load(Ordering::Relaxed)) / STEPS)
    }
}

impl Progress {
    pub(crate) fn set(&self, fraction: f64) {
        self.0.store((fraction * STEPS) as u32, Ordering::Relaxed);
    }
}

impl Drop for RunningPlan {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            self.plans.0.lock().unwrap_or_else(PoisonError::into_inner).remove(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_plans_are_found_by_name() {
        let plans = RunningPlans::default();
        let one = plans.begin(Some("one"));
        one.progress.set(0.25);
        assert_eq!(plans.fraction("one"), Some(0.25));
        assert_eq!(plans.fraction("two"), None);
        // The first plan keeps the name.
        let again = plans.begin(Some("one"));
        again.progress.set(0.75);
        drop(again);
        assert_eq!(plans.fraction("one"), Some(0.25));
        drop(one);
        assert_eq!(plans.fraction("one"), None);
    }

    #[test]
    fn names_are_letters_digits_and_hyphens() {
        let name_in = |text: &str| {
            let head =
                HeaderMap::from_iter([("plan-name".parse().unwrap(), text.parse().unwrap())]);
            plan_name(&head).map(str::to_owned)
        };
        assert_eq!(name_in("a-1").as_deref(), Some("a-1"));
        for none in ["", "a b", "a/b", &"a".repeat(65)] {
            assert_eq!(name_in(none), None, "{none}");
        }
        assert_eq!(plan_name(&HeaderMap::new()), None);
    }
}
