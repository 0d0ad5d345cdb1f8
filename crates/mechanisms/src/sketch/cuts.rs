//! Cuts of a graph.

use super::{IdealisedSketch, Normals, SketchParameters};
use crate::error::{Error, check};
use nalgebra::{DMatrix, DVector};

/// An undirected graph with weights from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    nodes: usize,
    edges: Vec<(usize, usize, f64)>,
}

impl Graph {
    /// A graph whose edges join two of the nodes, which count from 0, with a weight; pairs without an edge have weight
    /// zero.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless there are 2 to 10^6 nodes, edges join two of them and weights are 0 to 1;
    /// [`Error::Order`] if a pair is listed twice.
    pub fn new(
        nodes: usize,
        edges: impl IntoIterator<Item = (usize, usize, f64)>,
    ) -> Result<Self, Error> {
        let legal = "a whole number from 2 to 10^6";
        check((2..=1_000_000).contains(&nodes), "nodes", nodes as f64, legal)?;
        let mut list = Vec::new();
        for (one, other, weight) in edges {
            let (low, high) = (one.min(other), one.max(other));
            let legal = "two different nodes of the graph";
            check(low < high && high < nodes, "edge's end", high as f64, legal)?;
            check((0.0..=1.0).contains(&weight), "weight", weight, "a number from 0 to 1")?;
            list.push((low, high, weight));
        }
        list.sort_unstable_by_key(|&(low, high, _)| (low, high));
        for pair in list.windows(2) {
            if let [(low, high, _), (again, with, _)] = pair
                && (low, high) == (again, with)
            {
                let (low, high) = (*low as f64, *high as f64);
                return Err(Error::Order { what: "a pair of nodes, listed twice,", low, high });
            }
        }
        Ok(Self { nodes, edges: list })
    }

    /// The weight of all edges between a set of nodes and the other nodes.
    #[must_use]
    pub fn cut(&self, set: &[usize]) -> f64 {
        let side = |node: &usize| set.contains(node);
        let crosses = |(one, other, _): &&(usize, usize, f64)| side(one) != side(other);
        self.edges.iter().filter(crosses).map(|(_, _, weight)| weight).sum()
    }
}

/// A sketch that answers any cut query about its graph.
#[derive(Clone, Debug, PartialEq)]
pub struct CutSketch {
    /// One random direction in each row: N E_G.
    rows: DMatrix<f64>,
    weight: f64,
    eta: f64,
}

impl SketchParameters {
    /// Sketches a graph. Neighbours differ in the weight of one edge.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless the graph has more nodes than [`SketchParameters::cut_weight`];
    /// [`Error::Randomness`] if the source of randomness fails.
    pub fn cuts(&self, graph: &Graph) -> Result<IdealisedSketch<CutSketch>, Error> {
        let (nodes, weight) = (graph.nodes as f64, self.cut_weight());
        check(nodes > weight, "nodes", nodes, "more nodes than the weight w: see cut_weight")?;
        let mut rows = DMatrix::zeros(self.directions as usize, graph.nodes);
        let mut normals = Normals::default();
        for mut row in rows.row_iter_mut() {
            // Adds w/n to every pair. The sum of sqrt(w/n) g (e_i - e_j) has covariance w (I - J/n), and so has w^(1/2)
            // times a normal vector minus its mean.
            for entry in &mut row {
                *entry = normals.next()?;
            }
            let mean = row.mean();
            row.apply(|entry| *entry = weight.sqrt() * (*entry - mean));
            for &(one, other, edge) in &graph.edges {
                let push = ((1.0 - weight / nodes) * edge).sqrt() * normals.next()?;
                for (node, push) in [(one, push), (other, -push)] {
                    if let Some(entry) = row.get_mut(node) {
                        *entry += push;
                    }
                }
            }
        }
        let claim = self.claim("graphs that differ in the weight of one edge");
        Ok(IdealisedSketch { sketch: CutSketch { rows, weight, eta: self.eta }, claim })
    }
}

impl CutSketch {
    /// An estimate of the weight of all edges between a set of nodes and the other nodes.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a node is not in the graph.
    pub fn cut(&self, set: &[usize]) -> Result<f64, Error> {
        let (side, size, nodes) = self.side(set)?;
        let (directions, weight) = (self.rows.nrows() as f64, self.weight);
        let raw = (&self.rows * side).norm_squared() / directions;
        Ok((raw - weight * size * (nodes - size) / nodes) / (1.0 - weight / nodes))
    }

    /// The additive error tau: with probability at least 1 - nu the error is at most eta times the cut, plus tau.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a node is not in the graph.
    pub fn tau(&self, set: &[usize]) -> Result<f64, Error> {
        let (_, size, nodes) = self.side(set)?;
        Ok(self.eta * self.weight * size * (nodes - size) / (nodes - self.weight))
    }

    /// The set as a vector of zeros and ones, its size, and the number of nodes.
    fn side(&self, set: &[usize]) -> Result<(DVector<f64>, f64, f64), Error> {
        let nodes = self.rows.ncols();
        let mut side = DVector::zeros(nodes);
        for &node in set {
            check(node < nodes, "node", node as f64, "a node of the graph")?;
            if let Some(entry) = side.get_mut(node) {
                *entry = 1.0;
            }
        }
        let size = side.sum();
        Ok((side, size, nodes as f64))
    }
}
