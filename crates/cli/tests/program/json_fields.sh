# Prints the objects of docs/json.md: the name of a section, then its objects. `json_fields.rs` runs this script in a folder
# with the examples, with the program on the path.
set -u
of() { printf '\n~ %s\n' "$1"; }
c() { counterpoint "$@" --json; }
l() { c ledger --url sqlite:l.db "$@"; }
plan() { echo "{\"adjacency\": \"$1\", \"release\": [{$2}]}"; }
laplace='{"mechanism": "laplace", "scale": 99}'
steps='"mechanism": "approx-dp", "epsilon": 0.01, "examples": 9, "batch": 3, "epochs": 1'

of composition
c compose examples/minimal.toml
c compose examples/training.toml --epsilon 1
c compare --epsilon 0.1 --count 3 --delta 0 --pairs
plan replace '"mechanism": "exponential", "epsilon": 1, "count": 3' | c compose - --delta 1e-3

of losses
plan add-remove '"mechanism": "approx-dp", "epsilon": 1, "partition": "x"' | c compose - --losses
plan add-remove "$steps" | c compose - --losses

of calibration
c calibrate examples/training.toml --for sigma --epsilon 2 --out training.json
plan add-remove '"mechanism": "gaussian", "sigma": 1, "rate": 0.5' |
    c calibrate - --for sigma --epsilon 1 --delta 0.1 --out rate.json
sed 's/^delta/group = 2\n&/' examples/minimal.toml | c calibrate - --for epsilon --epsilon 1 --out group.json

of plan
cat training.json rate.json group.json

of unreachable-target
plan add-remove '"mechanism": "approx-dp", "epsilon": 1, "delta": 0.1' |
    c calibrate - --for epsilon --epsilon 1 --delta 0

of conversion
c convert --epsilon 1 --to-epsilon 0.5 --to-delta 0.1

of regions
c region examples/minimal.toml examples/training.toml

of audit
c audit --false-alarms 1/1000 --misses 1/1000 --delta 1e-6 --claim examples/training.toml

cat > study.toml <<'END'
delta = 1e-6
epsilon = 20

[data]
source = "rows.csv"
adjacency = "replace"
people = 200
sample_of = 5000
budget = { epsilon = 99, delta = 1e-3 }
column = [{ name = "age", bounds = [0, 100], missing = 50 }, { name = "region", categories = ["north", "south"] }]

[[statistic]]
kind = "proportion"
column = "region"
categories = ["north"]
where = "age > 20"
noise = "laplace"
error = 0.5

[[statistic]]
kind = "sum"
column = "age"
by = ["region"]
error = 900
END
for kind in mean variance standard-deviation quantiles cdf histogram; do
    printf '[[statistic]]\nkind = "%s"\ncolumn = "age"\nerror = 300\n' $kind
    case $kind in quantiles | cdf) echo points = 3 ;; histogram) echo 'bins = [0, 50, 100]' ;; esac
done >> study.toml
sed 's/^people/person = "id"\n&/' study.toml > people.toml
(echo id,age,region; for i in $(seq 200); do echo "$i,$((i % 90)),north"; done) > rows.csv

cat > open.toml <<'END'
delta = 1e-6

[data]
adjacency = "add-remove"
column = [{ name = "a", bounds = [0, 9] }, { name = "b", bounds = [0, 9] }]
END
for kind in covariance correlation regression; do
    printf '[[statistic]]\nkind = "%s"\ncolumn = "a"\nexpected = 999\n' $kind
    case $kind in regression) echo 'predictors = ["b"]' ;; *) echo 'with = "b"' ;; esac
    case $kind in covariance) echo 'error = 30' ;; *) printf 'pin = true\nepsilon = 0.5\n' ;; esac
done >> open.toml

cat > weights.toml <<'END'
delta = 1e-6
epsilon = 1
data = { adjacency = "replace", people = 500 }
statistic = [{ kind = "mean", bounds = [0, 1], weight = 1 }, { kind = "count", bounds = [0, 1], weight = 1 }]
END

of study-plan
c plan examples/study.toml
c plan study.toml
c plan people.toml
c plan open.toml
c plan weights.toml --prove

of no-plan
sed 's/weight = 1/error = 1e-3, pin = true/g' weights.toml | c plan -

of noise-rules
c noise --epsilon 1 --delta 1e-6
c noise --epsilon 12 --delta 0.5
c noise --epsilon 0.001 --delta 0.99

of simulation
c simulate examples/coins.toml --ratio 2
c simulate examples/systems.toml --order 2 --epsilon 1 --samples 9
printf '[source]\np = [1, 0]\nq = [0, 1]\n[target]\np = [0.6, 0.4]\nq = [0.4, 0.6]\n' | c simulate -
printf '[laplace]\nepsilon = 1\n' | c simulate -

of refutation
sed 's|"1/10"|"1/11"|' examples/coins.toml | c simulate -

of sketch
echo '{"epsilon": 1, "delta": 1e-6, "eta": 0.5, "nu": 0.05, "matrix": {"rows": [[3, 4]], "directions": [[1, 0]]}}' |
    c sketch -

of release-file
counterpoint release study.toml --dry-run --out tried > tried.txt
counterpoint release people.toml --out done > done.txt
cat tried/release.json done/release.json

of metadata-file
cat tried/metadata.json done/metadata.json

of history
c ledger --url sqlite:done/ledger.db history

of token-list
cat > curator.toml <<'END'
version = 1
ledger = "sqlite:curator.db"
state = "sqlite:state.db"
timing = { slot = 1, limit = 9 }
table = [{ name = "t", source = "rows.csv", adjacency = "replace", column = [{ name = "a", bounds = [0, 9] }] }]
END
counterpoint token --config curator.toml new owner ann > token.txt
c token --config curator.toml list

of completion
l init
for kind in sums renyi; do l dataset $kind --adjacency add-remove --epsilon 99 --delta 1e-3 --filter $kind; done
l open team --dataset sums --filter renyi --epsilon 1 --delta 1e-6
l open more --dataset sums --filter sums --epsilon 1 --delta 0
l open weekly --dataset sums --plan examples/minimal.toml
l open steps --dataset sums --plan examples/training.toml
l open within --within weekly --slot 1 --filter sums --epsilon 0.05 --delta 0
l open r --dataset renyi --filter zcdp --rho 0.1
l open m --dataset renyi --filter gdp --mu 0.1
l open t --dataset renyi --filter renyi --order 8 --tau 0.1
echo 'release = [{ name = "half", mechanism = "approx-dp", epsilon = 0.05 }]' | l recut weekly --unused 1:1 --into -
l quota more ann --share 0.5
l quota more ann --share 1 --change
l move team more --amount 0.01 --key m

of price
plan add-remove "$steps, \"count\": 9999" | sed 's/, "epochs": 1//' | l price team -

of reservation
plan add-remove "$steps" | l reserve team - --key k
l reserve weekly 1 --run "$laplace" --key w
l reserve more "$laplace" --key o --analyst ann
l reserve team "$laplace" --key s --session

of failure
l reserve team '{"mechanism": "gaussian", "sigma": 1}' --key f

of commit
echo 42 | l commit k --response -

of response
l response k

of responses
l responses

of pending
l pending

of session
l session team s

of status
l status
for account in team more weekly; do l status $account; done

of odometer
l odometer team

of completion
l close more

of verification
l verify --checkpoint checkpoint.json
l verify --checkpoint checkpoint.json

of history
l history

of export
l export
