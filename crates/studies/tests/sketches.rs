//! Sketch files: what is read, what is refused, and that what comes of them says what it is not.

use counterpoint_studies::SketchFile;

use counterpoint_wire::Format;

const HEAD: &str = "epsilon = 20\ndelta = 0.5\neta = 0.75\nnu = 0.5\n";

fn sketched(rest: &str) -> serde_json::Value {
    let file = SketchFile::parse(format!("{HEAD}{rest}").as_bytes(), Format::Toml).unwrap();
    serde_json::from_str(&file.sketch().unwrap().json().unwrap()).unwrap()
}

/// 8 ln(2/nu)/eta^2 = 19.7. Neither its name nor its fields are those of a mechanism that could be charged.
#[test]
fn a_sketch_says_that_it_is_idealised() {
    for rest in ["", "[matrix]\nrows = [[300, 400]]\ndirections = [[1, 0], [0, 0.5]]\n"] {
        let object = sketched(rest);
        assert_eq!(object["idealised"], true);
        assert!(object["note"].as_str().unwrap().contains("nothing is charged"), "{object}");
        assert_eq!(object["directions"], 20);
        assert!(object.get("mechanism").is_none());
        assert!(
            counterpoint_wire::Plan::parse(object.to_string().as_bytes(), Format::Json).is_err()
        );
    }
}

/// Within eta times the truth and tau, nineteen times out of twenty and more often: of 200, far more than half are.
#[test]
fn answers_are_about_the_truth() {
    let edges: Vec<String> = (0..40).map(|node| format!("[{node}, {}]", node + 40)).collect();
    let graph =
        format!("[graph]\nnodes = 80\nedges = [{}]\ncuts = [[0, 1, 2]]\n", edges.join(", "));
    let matrix = "[matrix]\nrows = [[300, 400], [0, 100]]\ndirections = [[1, 0]]\n";
    for (rest, truth) in [(graph.as_str(), 3.0), (matrix, 90_000.0)] {
        let near = (0..200).filter(|_| {
            let answer = &sketched(rest)["answers"][0];
            let [value, tau] = ["value", "tau"].map(|name| answer[name].as_f64().unwrap());
            (value - truth).abs() <= 0.75 * truth + tau
        });
        assert!(near.count() > 120, "{truth}");
    }
}

#[test]
fn what_is_wrong_is_named() {
    for (text, message) in [
        ("", "epsilon is missing; legal: a number"),
        ("epsilon = 1\ndelta = 1e-6\neta = 0.5\n", "nu is missing"),
        ("epsilon = 'x'\ndelta = 1e-6\neta = 0.5\nnu = 0.5\n", "epsilon is \"x\""),
        (
            "epsilon = 1\ndelta = 1e-6\neta = 5\nnu = 0.5\n",
            "eta is 5; legal: a number from 0.01 to 0.75",
        ),
    ] {
        let error = SketchFile::parse(text.as_bytes(), Format::Toml).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    for (rest, message) in [
        ("[graph]\nnodes = 3\nedges = [[0, 3]]", "edge's end is 3; legal: two different nodes"),
        ("[graph]\nnodes = 3\nedges = [[0]]", "edges has a list; legal: a list of edges"),
        ("[graph]\nnodes = 0.5", "nodes is 0.5; legal: a whole number"),
        ("[graph]\nnodes = 3\nsets = [[0]]", "sets is not a field of a graph"),
        ("[matrix]\nrows = [1]", "rows has 1; legal: a list of lists"),
        ("[matrix]\nrows = [[1]]\n[graph]\nnodes = 3", "matrix is given with graph"),
        ("graph = 1", "graph is 1; legal: a table [graph]"),
        ("mechanism = 'laplace'", "mechanism is not a field of a sketch"),
    ] {
        let text = format!("{HEAD}{rest}\n");
        let error = SketchFile::parse(text.as_bytes(), Format::Toml).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
    for (rest, message) in [
        ("[graph]\nnodes = 2\nedges = [[0, 1]]\ncuts = [[0]]", "nodes"),
        ("[matrix]\nrows = [[1, 2]]\ndirections = [[1]]", "direction has 1 entries"),
        ("[matrix]\nrows = []", "matrix has 0 entries"),
    ] {
        let file = SketchFile::parse(format!("{HEAD}{rest}\n").as_bytes(), Format::Toml).unwrap();
        let error = file.sketch().unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}
