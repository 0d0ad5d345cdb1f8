//! `counterpoint figures`.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::{Folder, command, run};

const NAMES: [&str; 10] = [
    "cost",
    "kov-figure-1",
    "kov-figure-2",
    "kov-figure-3",
    "kov-noise",
    "kov-sketch",
    "mv-figure-1",
    "mv-figure-2",
    "smith-figure-1",
    "smith-figure-2",
];

/// Every file of a folder, with its content; nothing if there is no folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let Ok(entries) = std::fs::read_dir(folder) else { return BTreeMap::new() };
    let file = |entry: std::io::Result<std::fs::DirEntry>| {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        (name, std::fs::read(path).unwrap())
    };
    entries.map(file).collect()
}

fn all_names() -> Vec<String> {
    let kinds = ["csv", "pdf", "svg"];
    NAMES.iter().flat_map(|name| kinds.map(|kind| format!("{name}.{kind}"))).collect()
}

#[test]
fn every_figure_is_written_twice_over_and_never_differs() {
    let folder = Folder::new();
    let out = folder.path("made/on the way");
    let written = run(&["figures", "--out", out.to_str().unwrap()]);
    let mut listed: Vec<&str> = written.answer().lines().collect();
    listed.sort_unstable();
    let expected: Vec<String> =
        all_names().iter().map(|name| out.join(name).to_str().unwrap().to_owned()).collect();
    assert_eq!(listed, expected);

    let first = files(&out);
    assert_eq!(first.keys().cloned().collect::<Vec<_>>(), all_names());
    run(&["figures", "--out", out.to_str().unwrap()]).answer();
    let second = files(&out);
    assert_eq!(second.len(), first.len());
    for (name, content) in &first {
        let (start, end) = match name.rsplit('.').next() {
            Some("svg") => ("<svg ", "</svg>\n"),
            Some("pdf") => ("%PDF-", "%%EOF"),
            _ => ("chart,kind,name,x,y,lower,upper\n", "\n"),
        };
        let (start, end) = (start.as_bytes(), end.as_bytes());
        assert!(content.starts_with(start) && content.ends_with(end), "{name}");
        assert!(second[name] == *content, "{name}");
    }
    // KOV's closed form at k = 1000, epsilon 0.005, delta 2^-25, by hand: 0.891...
    let hand = 1000.0 * 0.005 * 0.0025_f64.tanh()
        + 0.005 * (2000.0 * (1_f64.exp() + 0.025_f64.sqrt() * 2_f64.powi(25)).ln()).sqrt();
    let row = |start: &str| {
        let text = String::from_utf8(first["mv-figure-2.csv"].clone()).unwrap();
        text.lines().find_map(|line| line.strip_prefix(start)).unwrap().to_owned()
    };
    let kov = row("1,curve,\"KOV closed form, ε = 0.005\",1000.0,");
    let kov: f64 = kov.strip_suffix(",,").unwrap().parse().unwrap();
    assert!((kov / hand - 1.0).abs() < 1e-9, "{kov} {hand}");
    // The optimum stands between its ends, and KOV's form is 17.0 % above it.
    let best = row("1,curve,\"optimal, ε = 0.005\",1000.0,");
    let best: Vec<f64> = best.split(',').map(|n| n.parse().unwrap()).collect();
    assert!(best[1] <= best[0] && best[0] <= best[2] && best[2] - best[1] < 1e-5 * best[0]);
}

/// Those that are named, without what is for the text around them.
#[test]
fn figures_for_papers_are_chosen_and_plain() {
    let folder = Folder::new();
    let made = |name: &str, args: &[&str]| {
        let out = folder.path(name);
        let all = [&["figures", "--out", out.to_str().unwrap()], args].concat();
        run(&all).answer();
        files(&out)
    };
    let drawn = made("drawn", &["--only", "kov-figure-1", "--only", "width"]);
    let names: Vec<&str> = drawn.keys().map(String::as_str).collect();
    let both = ["kov-figure-1", "width"].into_iter();
    let both = both.flat_map(|name| ["csv", "pdf", "svg"].map(|kind| format!("{name}.{kind}")));
    assert_eq!(names, both.collect::<Vec<_>>());
    let plain = made("plain", &["--only", "kov-figure-1", "--plain"]);
    let [drawn, plain] =
        [drawn, plain].map(|files| String::from_utf8(files["kov-figure-1.svg"].clone()).unwrap());
    // The same curves, and no paragraph; it is still told to those who cannot see it.
    let curves = |svg: &str| svg.lines().filter(|line| line.contains("<polyline")).count();
    let texts = |svg: &str, class: &str| {
        let group = svg.split(&format!("<g class=\"{class}\">")).nth(1).unwrap();
        group.split("</g>").next().unwrap().matches("<text").count()
    };
    assert_eq!(curves(&plain), curves(&drawn));
    for class in ["title", "caption"] {
        assert_eq!(texts(&plain, class), 0);
        assert!(texts(&drawn, class) > 0);
    }
    assert!(plain.contains("<desc>") && plain.len() < drawn.len());
    let height = |svg: &str| {
        let height = svg.split("height=\"").nth(1).unwrap().split('"').next().unwrap();
        height.parse::<f64>().unwrap()
    };
    assert!(height(&plain) < height(&drawn));
    let error = run(&["figures", "--out", "x", "--only", "kov"]).error().to_owned();
    assert!(error.contains("'kov'") && error.contains("kov-figure-1"), "{error}");

    // For numbers of one's own: half of one over 1 + e^2.
    let own = ["--only", "kov-figure-1", "--epsilon", "2", "--delta", "1/2", "--plain"];
    let own = String::from_utf8(made("own", &own)["kov-figure-1.csv"].clone()).unwrap();
    let corner = 0.5 / (1.0 + 2_f64.exp());
    let corners = own.lines().filter(|line| line.starts_with("1,curve,boundary,"));
    let middle: Vec<f64> =
        corners.map(|line| line.split(',').nth(3).unwrap().parse().unwrap()).collect();
    assert!(middle.len() == 3 && (middle[1] - corner).abs() < 1e-12, "{own}");
    for (args, why) in [
        (&["--epsilon", "2"][..], "legal: these options together with --only NAME"),
        (&["--only", "time", "--releases", "5"], "time has no parameters"),
        (
            &["--only", "cost", "--releases", "5"],
            "cost for up to 5 releases; legal: 10 to 1000000000",
        ),
        (&["--only", "cost", "--epsilon", "-1"], "legal: "),
    ] {
        let error = run(&[&["figures", "--out", "x"], args].concat()).error().to_owned();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn the_picture_in_the_docs_is_the_programs() {
    let folder = Folder::new();
    let out = folder.path("out");
    run(&["figures", "--out", out.to_str().unwrap()]).answer();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cost.svg");
    // Told in one line: the pictures are long.
    let same = files(&out)["cost.svg"] == std::fs::read(docs).unwrap();
    assert!(same, "docs/cost.svg is old; make it anew: counterpoint figures --out DIR");
}

#[test]
fn a_place_that_cannot_be_written_to_is_one_line() {
    let folder = Folder::new();
    let file = folder.file("file", "kept");
    let error = run(&["figures", "--out", &file]).error().to_owned();
    assert_eq!(
        error,
        format!("{file}: is not a directory; legal: a directory that can be written to")
    );
    let below = format!("{file}/below");
    let error = run(&["figures", "--out", &below]).error().to_owned();
    assert!(error.starts_with(&format!("{below}: cannot be created: ")), "{error}");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "kept");

    // A name that is taken by a directory cannot be replaced; no draft stays behind.
    std::fs::create_dir_all(folder.path("out/mv-figure-1.svg/full")).unwrap();
    let error = run(&["figures", "--out", folder.path("out").to_str().unwrap()]).error().to_owned();
    assert!(error.contains("mv-figure-1.svg cannot be written: "), "{error}");
    let left = std::fs::read_dir(folder.path("out")).unwrap().count();
    assert_eq!(left, 1);

    let error = run(&["figures"]).error().to_owned();
    assert!(error.contains("--out <DIR>"), "{error}");
}

/// How many files are there; drafts do not count.
fn written(folder: &Path) -> usize {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| !entry.file_name().to_string_lossy().starts_with('.')).count()
}

#[test]
fn a_stopped_program_leaves_only_whole_figures() {
    let folder = Folder::new();
    let out = folder.path("out");
    for number in [0, 1, 7] {
        let mut command = command(&["figures", "--out", out.to_str().unwrap()]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while written(&out) < number && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        for (name, content) in files(&out).iter().filter(|(name, _)| !name.starts_with('.')) {
            let whole = match name.rsplit('.').next() {
                Some("svg") => "</svg>\n",
                Some("pdf") => "%%EOF",
                _ => "\n",
            };
            assert!(content.ends_with(whole.as_bytes()), "{name} is cut");
        }
    }
}
