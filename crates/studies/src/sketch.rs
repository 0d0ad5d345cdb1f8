//! Sketch files: the Johnson-Lindenstrauss mechanism on a graph or a matrix (KOV, appendix). Sketches are idealised:
//! they are private only if doubles were real numbers. Their files name no release, and no ledger accepts them.

use counterpoint_mechanisms::Error;
use counterpoint_mechanisms::sketch::{Claim, Graph, SketchParameters};
use counterpoint_wire::document::{Fields, NumberMode, illegal, missing, real, table_of};
use counterpoint_wire::{Format, PlanError, Table, Value};
use serde::Serialize;

const TOP: [&str; 6] = ["epsilon", "delta", "eta", "nu", "graph", "matrix"];

/// The warning that every sketch carries.
pub const IDEALISED: &str = "idealised: private only if doubles were real numbers; nothing is charged, and no ledger takes it";

/// A sketch file.
#[derive(Clone, Debug, PartialEq)]
pub struct SketchFile {
    /// The epsilon and delta of the claim.
    pub claim: [f64; 2],
    /// The parameters of the sketch.
    pub sketching: SketchParameters,
    /// The object to be sketched, if there is one.
    pub input: Option<SketchInput>,
}

/// An object to be sketched, and the questions about it.
#[derive(Clone, Debug, PartialEq)]
pub enum SketchInput {
    /// A graph, and sets of nodes whose cuts are estimated.
    Graph(Graph, Vec<Vec<usize>>),
    /// A matrix by its rows, and directions whose variances are estimated.
    Matrix(Vec<Vec<f64>>, Vec<Vec<f64>>),
}

/// The parameters of a sketch, and its answers.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SketchResult {
    /// The epsilon and delta of the claim, for real numbers.
    pub claim: [f64; 2],
    /// The parameters of the sketch.
    pub sketching: SketchParameters,
    /// The neighbours and the theorem of the claim; `None` if nothing was sketched.
    pub proof: Option<Claim>,
    /// The answers, in the order of the questions.
    pub answers: Vec<SketchAnswer>,
}

/// An answer. With probability at least 1 - nu, its error is at most eta times the truth, plus tau.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SketchAnswer {
    /// The estimate.
    pub value: f64,
    /// The additive error.
    pub tau: f64,
}

impl SketchFile {
    /// Reads a file.
    ///
    /// ```
    /// use counterpoint_studies::SketchFile;
    /// use counterpoint_wire::Format;
    /// let text = "epsilon = 1\ndelta = 1e-6\neta = 0.5\nnu = 0.05\n\
    ///             [matrix]\nrows = [[3, 4], [0, 1]]\ndirections = [[1, 0]]\n";
    /// let sketched = SketchFile::parse(text.as_bytes(), Format::Toml)?.sketch()?;
    /// assert!(sketched.json()?.starts_with("{\"idealised\":true,"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`PlanError`] that names the field and what would be legal.
    pub fn parse(bytes: &[u8], format: Format) -> Result<Self, PlanError> {
        Self::from_table(table_of(bytes, format, NumberMode::Doubles)?)
    }

    /// Reads a sketch file from a table.
    ///
    /// # Errors
    /// As [`SketchFile::parse`].
    pub fn from_table(table: Table<'_>) -> Result<Self, PlanError> {
        let mut fields = Fields::new(table);
        let mut number = |name| {
            let value = fields.take(name).ok_or_else(|| missing(name, "a number"))?;
            real(&value).ok_or_else(|| illegal(name, &value, "a number"))
        };
        let [epsilon, delta] = [number("epsilon")?, number("delta")?];
        let [eta, nu] = [number("eta")?, number("nu")?];
        let sketching = SketchParameters::new(epsilon, delta, eta, nu).map_err(refused)?;
        let (graph, matrix) = (fields.take("graph"), fields.take("matrix"));
        fields.finish("a sketch", &TOP)?;
        let input = match (graph, matrix) {
            (Some(_), Some(_)) => {
                return Err(PlanError::field("matrix", "is given with graph; legal: one of them"));
            }
            (Some(graph), None) => Some(read_graph(graph)?),
            (None, Some(matrix)) => Some(read_matrix(matrix)?),
            (None, None) => None,
        };
        Ok(Self { claim: [epsilon, delta], sketching, input })
    }

    /// Draws the sketch, and answers the questions with it.
    ///
    /// # Errors
    /// [`PlanError`] if the graph is too small, a question does not fit, or randomness fails.
    pub fn sketch(&self) -> Result<SketchResult, PlanError> {
        let sketching = self.sketching;
        let (proof, answers) = match &self.input {
            None => (None, Ok(Vec::new())),
            Some(SketchInput::Graph(graph, sets)) => {
                let sketched = sketching.cuts(graph).map_err(refused)?;
                let cuts = sketched.accepting_real_arithmetic();
                let answer = |set: &Vec<usize>| {
                    Ok(SketchAnswer { value: cuts.cut(set)?, tau: cuts.tau(set)? })
                };
                (Some(*sketched.claim()), sets.iter().map(answer).collect::<Result<_, Error>>())
            }
            Some(SketchInput::Matrix(rows, directions)) => {
                let sketched = sketching.variances(rows).map_err(refused)?;
                let variances = sketched.accepting_real_arithmetic();
                let answer = |x: &Vec<f64>| {
                    let length = x.iter().map(|entry| entry * entry).sum::<f64>();
                    let tau = variances.tau() * length;
                    Ok(SketchAnswer { value: variances.variance(x)?, tau })
                };
                (Some(*sketched.claim()), directions.iter().map(answer).collect())
            }
        };
        Ok(SketchResult { claim: self.claim, sketching, proof, answers: answers.map_err(refused)? })
    }
}

fn refused(error: Error) -> PlanError {
    PlanError::plan(error.to_string())
}

/// Reads the fields of a table.
fn fields<'a>(name: &str, value: Value<'a>) -> Result<Fields<'a>, PlanError> {
    match value {
        Value::Table(table) => Ok(Fields::new(table)),
        other => Err(illegal(name, &other, &format!("a table [{name}]"))),
    }
}

/// Reads a graph. Nodes are numbered from 0; an edge is two nodes, and a weight unless that is 1.
fn read_graph(value: Value<'_>) -> Result<SketchInput, PlanError> {
    let mut fields = fields("graph", value)?;
    let legal = "a whole number from 2 to 10^6";
    let nodes = fields.take("nodes").ok_or_else(|| missing("nodes", legal))?;
    let count = node(&nodes).ok_or_else(|| illegal("nodes", &nodes, legal))?;
    let edges =
        lists(&mut fields, "edges", "a list of edges, such as [[0, 1], [1, 2, 0.5]]", |edge| {
            match edge {
                [one, other] => Some((node(one)?, node(other)?, 1.0)),
                [one, other, weight] => Some((node(one)?, node(other)?, real(weight)?)),
                _ => None,
            }
        })?;
    let cuts = lists(&mut fields, "cuts", "a list of sets of nodes, such as [[0, 1]]", |set| {
        set.iter().map(node).collect()
    })?;
    fields.finish("a graph", &["nodes", "edges", "cuts"])?;
    Ok(SketchInput::Graph(Graph::new(count, edges).map_err(refused)?, cuts))
}

fn read_matrix(value: Value<'_>) -> Result<SketchInput, PlanError> {
    let mut fields = fields("matrix", value)?;
    let legal = "a list of lists of numbers, such as [[1, 0], [0.5, 2]]";
    let row = |row: &[Value<'_>]| row.iter().map(real).collect();
    let [rows, directions] =
        [lists(&mut fields, "rows", legal, row)?, lists(&mut fields, "directions", legal, row)?];
    fields.finish("a matrix", &["rows", "directions"])?;
    Ok(SketchInput::Matrix(rows, directions))
}

fn node(value: &Value<'_>) -> Option<usize> {
    match value {
        Value::Whole(number) => usize::try_from(*number).ok(),
        _ => None,
    }
}

/// Reads a list of lists, each as one item; an absent field is an empty list.
fn lists<T>(
    fields: &mut Fields<'_>,
    name: &str,
    legal: &str,
    read: impl Fn(&[Value<'_>]) -> Option<T>,
) -> Result<Vec<T>, PlanError> {
    let Some(value) = fields.take(name) else { return Ok(Vec::new()) };
    let Value::List(items) = &value else { return Err(illegal(name, &value, legal)) };
    let one = |item: &Value<'_>| match item {
        Value::List(parts) => read(parts),
        _ => None,
    };
    let wrong = |item| PlanError::field(name, format!("has {item}; legal: {legal}"));
    items.iter().map(|item| one(item).ok_or_else(|| wrong(item))).collect()
}

impl SketchResult {
    /// The `sketch --json` object.
    ///
    /// # Errors
    /// None in practice.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let (own, [epsilon, delta]) = (&self.sketching, self.claim);
        let (each_epsilon, each_delta) = own.each();
        serde_json::to_string(&SketchObject {
            idealised: true,
            note: IDEALISED,
            epsilon,
            delta,
            eta: own.eta(),
            nu: own.nu(),
            directions: own.directions(),
            each: Each { epsilon: each_epsilon, delta: each_delta },
            cut_weight: own.cut_weight(),
            variance_weight: own.variance_weight(),
            neighbours: self.proof.map(|proof| proof.neighbours),
            source: self.proof.map(|proof| proof.source),
            answers: &self.answers,
        })
    }
}

#[derive(Serialize)]
struct SketchObject<'a> {
    idealised: bool,
    note: &'static str,
    epsilon: f64,
    delta: f64,
    eta: f64,
    nu: f64,
    directions: u64,
    each: Each,
    cut_weight: f64,
    variance_weight: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    neighbours: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'static str>,
    answers: &'a [SketchAnswer],
}

#[derive(Serialize)]
struct Each {
    epsilon: f64,
    delta: f64,
}
