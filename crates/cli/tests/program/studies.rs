//! `study new`: from a data file's header to a study file.

use super::*;

const SCHEMA: &str = r#"{"fields": [
    {"name": "age", "type": "integer", "constraints": {"minimum": 18, "maximum": 99}},
    {"name": "region", "type": "string", "constraints": {"enum": ["north", "south"]}}
]}"#;

#[test]
fn a_study_begins_with_a_header() {
    let folder = Folder::new();
    let data = folder.file("survey.csv", "respondent,age,region\n1,SECRET,north\n");
    let answer = run(&["study", "new", &data]).answer().to_owned();
    for part in [
        "# Only its first line was read",
        "# name = \"respondent\"",
        "# name = \"age\"",
        "[data]\n",
    ] {
        assert!(answer.contains(part), "{part}\n{answer}");
    }
    assert!(!answer.contains("SECRET"), "{answer}");
    let book = folder.file("book.json", SCHEMA);
    let described = run(&["study", "new", &data, "--codebook", &book]);
    let warning = "does not describe these columns of the data file: \"respondent\"";
    assert!(described.warning().ends_with(warning), "{}", described.stderr);
    let [age, region] = ["bounds = [18, 99]", "categories = [\"north\", \"south\"]"];
    assert!(described.stdout.contains(&format!("\n[[data.column]]\nname = \"age\"\n{age}\n")));
    assert!(
        described.stdout.contains(&format!("\n[[data.column]]\nname = \"region\"\n{region}\n"))
    );
    // The names of JSON lines are those of the codebook, whatever the records hold.
    let lines = folder.file("survey.jsonl", "{\"SECRET\": 1}\n");
    let described = run(&["study", "new", &lines, "--codebook", &book]);
    assert!(
        described.answer().contains("the file was not read")
            && !described.stdout.contains("SECRET")
    );
    let keys = run(&["study", "new", &lines]);
    assert!(keys.warning().contains("they tell which fields that person has"), "{}", keys.stderr);
    assert!(keys.stdout.contains("# name = \"SECRET\""));
}

#[test]
fn files_that_cannot_begin_a_study_are_refused_in_one_line() {
    let folder = Folder::new();
    let data = folder.file("survey.csv", "age,region\n1,north\n");
    let book = folder.file("book.json", SCHEMA);
    std::fs::create_dir(folder.path("folder.csv")).unwrap();
    let path = |name: &str| folder.path(name).to_str().unwrap().to_owned();
    let legal = "legal: .csv, .jsonl, .parquet";
    let cases = [
        (path("none.csv"), None, "none.csv: cannot be read: No such file"),
        (path("folder.csv"), None, "folder.csv: is a directory; legal: a file"),
        (folder.file("survey.xlsx", "x"), None, legal),
        (folder.file("survey", "x"), None, legal),
        (folder.file("empty.csv", ""), None, "empty.csv: is empty; legal: "),
        (folder.file("blank.csv", "\r\n"), None, "has an empty first line; legal: "),
        (
            folder.file("twice.csv", "a,b,a\n"),
            None,
            "has the name \"a\" for columns 1 and 3; legal: ",
        ),
        (folder.file("no.parquet", "PAR1"), None, "no.parquet: is not a Parquet file; legal: "),
        (data.clone(), Some(path("none.json")), "none.json: cannot be read: No such file"),
        (data.clone(), Some(path("folder.csv")), "folder.csv: is a directory; legal: a file"),
        (data.clone(), Some(data.clone()), "survey.csv: is not a codebook; legal: "),
        (
            folder.file("no.csv", "a\n"),
            Some(folder.file("no.json", "{}")),
            "is JSON, but not a codebook; legal: ",
        ),
        (path("none.csv"), Some(book), "none.csv: cannot be read"),
    ];
    for (data, codebook, problem) in cases {
        let mut args = vec!["study", "new", &data];
        args.extend(codebook.iter().flat_map(|codebook| ["--codebook", codebook]));
        let run = run(&args);
        assert!(run.error().contains(problem), "{problem}: {}", run.stderr);
        assert!(run.error().contains("legal: "), "{}", run.stderr);
    }
    for (args, problem) in [
        (&["study"][..], "requires a subcommand"),
        (&["study", "old"], "unrecognized subcommand 'old'"),
        (&["study", "new"], "<FILE>"),
    ] {
        let run = run(args);
        assert!(run.error().contains(problem), "{problem}: {}", run.stderr);
    }
}

/// A writer that holds back everything behind the header: the study is there all the same, and the pipe still has the rest.
#[cfg(unix)]
#[test]
fn of_a_pipe_only_the_header_is_read() {
    let folder = Folder::new();
    let path = folder.path("pipe.csv");
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    // Opened for both, so that neither side waits for the other and the pipe outlives the program.
    let mut pipe = std::fs::OpenOptions::new().read(true).write(true).open(&path).unwrap();
    pipe.write_all(b"age,region\n7,SECRET\n").unwrap();
    let study = run(&["study", "new", path.to_str().unwrap()]);
    assert!(study.answer().contains("# name = \"region\"") && !study.stdout.contains("SECRET"));
    let mut rest = [0; 64];
    let count = std::io::Read::read(&mut pipe, &mut rest).unwrap();
    assert_eq!(&rest[..count], b"7,SECRET\n");
}

/// The survey of the examples: its study declares what `study new` takes from its codebook, and asks thirty statistics of those columns.
#[test]
fn the_survey_of_the_examples_begins_with_its_codebook() {
    let folder = Folder::new();
    let data = folder.path("survey.csv");
    let made = Command::new("python3").arg(example("survey/make.py")).arg(&data).status().unwrap();
    assert!(made.success());
    let rows = std::fs::read_to_string(&data).unwrap();
    assert_eq!(rows.lines().count(), 12_001);
    assert!(rows.lines().skip(1).filter(|row| row.split(',').nth(6) == Some("")).count() > 500);
    let data = data.to_str().unwrap();
    let begun = run(&["study", "new", data, "--codebook", &example("survey/codebook.json")]);
    let begun: toml::Table = begun.answer().parse().unwrap();
    let study = std::fs::read_to_string(example("survey/study.toml")).unwrap();
    let study: toml::Table = study.parse().unwrap();
    assert_eq!(begun["data"]["column"], study["data"]["column"]);
    let columns = study["data"]["column"].as_array().unwrap();
    let columns: Vec<&str> =
        columns.iter().map(|column| column["name"].as_str().unwrap()).collect();
    let statistics = study["statistic"].as_array().unwrap();
    assert_eq!(statistics.len(), 30);
    for statistic in statistics {
        let lists = ["by", "predictors"].map(|field| statistic.get(field));
        let named = lists.into_iter().flatten().flat_map(|list| list.as_array().unwrap());
        let fields = ["column", "with"].map(|field| statistic.get(field));
        for name in named.chain(fields.into_iter().flatten()) {
            assert!(columns.contains(&name.as_str().unwrap()), "{statistic}");
        }
    }
}
