BEGIN;
-- A ledger of format 3: releases whose prices and readings later formats changed, as the program of its time wrote them.
CREATE TABLE ledger_version (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        version INTEGER NOT NULL
    ) STRICT;
CREATE TABLE ledger_entry (
        sequence INTEGER PRIMARY KEY CHECK (sequence > 0),
        previous BLOB NOT NULL CHECK (length(previous) = 32),
        hash BLOB NOT NULL CHECK (length(hash) = 32),
        account TEXT,
        body TEXT NOT NULL
    ) STRICT;
CREATE INDEX ledger_entry_account ON ledger_entry (account, sequence);
CREATE TABLE ledger_head (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        sequence INTEGER NOT NULL,
        hash BLOB NOT NULL CHECK (length(hash) = 32)
    ) STRICT;
CREATE TABLE ledger_account (
        name TEXT PRIMARY KEY,
        parent TEXT REFERENCES ledger_account (name),
        slot TEXT,
        opened INTEGER NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        adjacency TEXT NOT NULL,
        records INTEGER NOT NULL CHECK (records > 0),
        part TEXT,
        rule TEXT NOT NULL,
        capacity_main TEXT NOT NULL,
        capacity_delta TEXT NOT NULL,
        capacity_pure TEXT ,
        spent_main TEXT NOT NULL,
        spent_delta TEXT NOT NULL,
        spent_pure TEXT ,
        charges INTEGER NOT NULL CHECK (charges >= 0),
        quotas INTEGER NOT NULL CHECK (quotas >= 0),
        closed INTEGER UNIQUE REFERENCES ledger_entry (sequence),
        CHECK ((spent_main <= capacity_main AND spent_delta <= capacity_delta)
            OR COALESCE(spent_pure <= capacity_pure, FALSE))
    ) STRICT;
CREATE TABLE ledger_slot (
        account TEXT NOT NULL REFERENCES ledger_account (name),
        name TEXT NOT NULL,
        total INTEGER NOT NULL CHECK (total > 0),
        used INTEGER NOT NULL CHECK (used >= 0 AND used <= total),
        release TEXT NOT NULL,
        PRIMARY KEY (account, name)
    ) STRICT;
CREATE TABLE ledger_quota (
        account TEXT NOT NULL REFERENCES ledger_account (name),
        analyst TEXT NOT NULL,
        capacity_main TEXT NOT NULL,
        capacity_delta TEXT NOT NULL,
        capacity_pure TEXT ,
        spent_main TEXT NOT NULL,
        spent_delta TEXT NOT NULL,
        spent_pure TEXT ,
        charges INTEGER NOT NULL CHECK (charges >= 0),
        PRIMARY KEY (account, analyst),
        CHECK ((spent_main <= capacity_main AND spent_delta <= capacity_delta)
            OR COALESCE(spent_pure <= capacity_pure, FALSE))
    ) STRICT;
CREATE TABLE ledger_release (
        key TEXT NOT NULL,
        account TEXT NOT NULL REFERENCES ledger_account (name),
        analyst TEXT,
        session INTEGER NOT NULL CHECK (session = 0 OR session = 1),
        request BLOB NOT NULL CHECK (length(request) = 32),
        reserved INTEGER NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        committed INTEGER UNIQUE REFERENCES ledger_entry (sequence),
        response BLOB,
        PRIMARY KEY (key, account),
        CHECK ((committed IS NULL) = (response IS NULL)),
        CHECK (committed > reserved),
        CHECK (session = 0 OR committed IS NULL)
    ) STRICT;
CREATE TABLE ledger_session (
        key TEXT NOT NULL,
        account TEXT NOT NULL,
        begun INTEGER NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        answered INTEGER NOT NULL CHECK (answered >= 0),
        ended INTEGER UNIQUE REFERENCES ledger_entry (sequence),
        declaration BLOB NOT NULL,
        PRIMARY KEY (key, account),
        FOREIGN KEY (key, account) REFERENCES ledger_release (key, account),
        CHECK (ended > begun)
    ) STRICT;
CREATE TABLE ledger_answer (
        key TEXT NOT NULL,
        account TEXT NOT NULL,
        number INTEGER NOT NULL CHECK (number > 0),
        ask TEXT NOT NULL,
        question BLOB NOT NULL CHECK (length(question) = 32),
        entry INTEGER NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        response BLOB NOT NULL,
        PRIMARY KEY (key, account, number),
        UNIQUE (key, account, ask),
        FOREIGN KEY (key, account) REFERENCES ledger_session (key, account)
    ) STRICT;
CREATE TABLE ledger_state (
        key TEXT NOT NULL,
        account TEXT NOT NULL,
        state BLOB NOT NULL,
        PRIMARY KEY (key, account),
        FOREIGN KEY (key, account) REFERENCES ledger_session (key, account)
    ) STRICT;
CREATE TABLE ledger_alias (
        account TEXT NOT NULL,
        analyst TEXT NOT NULL,
        alias BLOB NOT NULL CHECK (length(alias) = 32),
        key TEXT NOT NULL,
        entry INTEGER NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        PRIMARY KEY (account, analyst, alias),
        FOREIGN KEY (key, account) REFERENCES ledger_release (key, account)
    ) STRICT;
CREATE TRIGGER ledger_entry_kept BEFORE DELETE ON ledger_entry
                BEGIN SELECT RAISE(ABORT, 'entries are never deleted'); END;
CREATE TRIGGER ledger_entry_fixed BEFORE UPDATE ON ledger_entry
                BEGIN SELECT RAISE(ABORT, 'entries are never changed'); END;
INSERT INTO ledger_version VALUES (1, 3);
INSERT INTO ledger_entry VALUES (1, x'0000000000000000000000000000000000000000000000000000000000000000', x'26609ef1515a958017ecae801f6da044d12f79134595fcbb14652d1af9237ab2', NULL, '{"event":"init","at":1794976955,"format":3}');
INSERT INTO ledger_entry VALUES (2, x'26609ef1515a958017ecae801f6da044d12f79134595fcbb14652d1af9237ab2', x'8341898c48261a1a976ceb06f544c279cbb4a2e0e0913f56e692f7acec01e22d', 'census', '{"event":"dataset","at":1794976955,"name":"census","adjacency":"add-remove","records":1,"filter":{"kind":"sums","order":null,"promise":{"epsilon":"400","delta":"0.01"},"capacity":{"main":"400","delta":"0.01"}}}');
INSERT INTO ledger_entry VALUES (3, x'8341898c48261a1a976ceb06f544c279cbb4a2e0e0913f56e692f7acec01e22d', x'53858994266d3327e1f917c63d1af00dd3584833ca5af907f7c385722575e40e', 'many', '{"event":"dataset","at":1794976955,"name":"many","adjacency":"add-remove","records":5,"filter":{"kind":"sums","order":null,"promise":{"epsilon":"100","delta":"0.001"},"capacity":{"main":"100","delta":"0.001"}}}');
INSERT INTO ledger_entry VALUES (4, x'53858994266d3327e1f917c63d1af00dd3584833ca5af907f7c385722575e40e', x'656228d7bfeead8a486b44198b6748d022e7ba6ec4b112d1cea3e8dc270ef3be', 'swapped', '{"event":"dataset","at":1794976955,"name":"swapped","adjacency":"replace","records":1,"filter":{"kind":"sums","order":null,"promise":{"epsilon":"100","delta":"0.001"},"capacity":{"main":"100","delta":"0.001"}}}');
INSERT INTO ledger_entry VALUES (5, x'656228d7bfeead8a486b44198b6748d022e7ba6ec4b112d1cea3e8dc270ef3be', x'8bc3c17385a8a7789eac40902776b3143bf3345206338a9ae112992f7a123079', 'sums', '{"event":"open","at":1794976955,"account":"sums","parent":"census","rule":{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"40","delta":"0.0001"}}},"charge":{"main":"40","delta":"0.0001"}}');
INSERT INTO ledger_entry VALUES (6, x'8bc3c17385a8a7789eac40902776b3143bf3345206338a9ae112992f7a123079', x'e28b1ae514a19d28f6292d58a8a744c55d024f834b9ec8449d7d522190751fec', 'renyi', '{"event":"open","at":1794976955,"account":"renyi","parent":"census","rule":{"filter":{"kind":"renyi","order":"8","promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"39.015810533930766606398129","delta":"0.00005","pure":"40"}}},"charge":{"main":"40","delta":"0.0001"}}');
INSERT INTO ledger_entry VALUES (7, x'e28b1ae514a19d28f6292d58a8a744c55d024f834b9ec8449d7d522190751fec', x'0ae6dfca1abbba2ef32c6966907bdbd420ac2d9c896d3a71039c58bb119aa40a', 'zcdp', '{"event":"open","at":1794976955,"account":"zcdp","parent":"census","rule":{"filter":{"kind":"zcdp","order":null,"promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"16.223133987298103927436254","delta":"0.00005","pure":"40"}}},"charge":{"main":"40","delta":"0.0001"}}');
INSERT INTO ledger_entry VALUES (8, x'0ae6dfca1abbba2ef32c6966907bdbd420ac2d9c896d3a71039c58bb119aa40a', x'02f7772e107266af869f43872e4384f345c647be0e63e06d6a2cc768e93d39b5', 'gdp', '{"event":"open","at":1794976955,"account":"gdp","parent":"census","rule":{"filter":{"kind":"gdp","order":null,"promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"36.5724040878554044047032171402291167194070104025","delta":"0","pure":"40"}}},"charge":{"main":"40","delta":"0.0001"}}');
INSERT INTO ledger_entry VALUES (9, x'02f7772e107266af869f43872e4384f345c647be0e63e06d6a2cc768e93d39b5', x'44f7d405d6e4740f064f5bbc2b289d04ef89bfce405994f2e425f1bc7582fe9e', 'persons', '{"event":"open","at":1794976955,"account":"persons","parent":"many","rule":{"filter":{"kind":"renyi","order":"4","promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"37.448617675313035118554307","delta":"0.00005","pure":"40"}}},"charge":{"main":"40","delta":"0.0001"}}');
INSERT INTO ledger_entry VALUES (10, x'44f7d405d6e4740f064f5bbc2b289d04ef89bfce405994f2e425f1bc7582fe9e', x'29877ce62ebcaf315ad0a96877239e63ca40add40d68480edce81a52906bcede', 'pairs', '{"event":"open","at":1794976955,"account":"pairs","parent":"swapped","rule":{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"40","delta":"0.0001"}}},"charge":{"main":"40","delta":"0.0001"}}');
INSERT INTO ledger_entry VALUES (11, x'29877ce62ebcaf315ad0a96877239e63ca40add40d68480edce81a52906bcede', x'84cee6e075703e4cdea947ea5997dd63007f664621269558663900ad095eef7f', 'plan', '{"event":"open","at":1794976955,"account":"plan","parent":"census","rule":{"plan":{"epsilon":"9.241705222383515661022102","delta":"0.00001","slots":[{"name":"sampled","count":4,"release":{"count":"4","delta":"0.000000001","epsilon":"2","mechanism":"approx-dp","name":"sampled","rate":"0.1"}},{"name":"pure","count":4,"release":{"count":"4","epsilon":"1","mechanism":"approx-dp","name":"pure","rate":"0.25"}},{"name":"finite","count":3,"release":{"count":"3","mechanism":"finite","name":"finite","p":["0.7","0.2","0.1"],"q":["0.1","0.2","0.7"]}}]}},"charge":{"main":"9.241705222383515661022102","delta":"0.00001"}}');
INSERT INTO ledger_entry VALUES (12, x'84cee6e075703e4cdea947ea5997dd63007f664621269558663900ad095eef7f', x'88b297006b4f343868ce18f0d4c9b79588e58e1cc715af2812e91a2a48701235', 'sums', '{"event":"reserve","at":1794976955,"account":"sums","key":"k1","analyst":null,"release":{"described":[{"epsilon":"2","mechanism":"approx-dp","rate":"0.1"}]},"charge":{"main":"0.494028708044178771723458","delta":"0"}}');
INSERT INTO ledger_entry VALUES (13, x'88b297006b4f343868ce18f0d4c9b79588e58e1cc715af2812e91a2a48701235', x'348fed08207ea54ca1c8213467504e14f50b7bbf1063e14ebc05138deea02ea8', 'sums', '{"event":"reserve","at":1794976955,"account":"sums","key":"k2","analyst":null,"release":{"described":[{"count":"3","delta":"0.000000001","epsilon":"1","mechanism":"approx-dp","rate":"0.3"}]},"charge":{"main":"1.247205665530886019244029","delta":"0.000000000900000000000000149111251224217484200040839681378201930783689022064208984375"}}');
INSERT INTO ledger_entry VALUES (14, x'348fed08207ea54ca1c8213467504e14f50b7bbf1063e14ebc05138deea02ea8', x'9c08cedbb6675e2a3d93459dc97b41c360efeda9cd0e509964d8790c32220894', 'sums', '{"event":"reserve","at":1794976955,"account":"sums","key":"k3","analyst":null,"release":{"described":[{"epsilon":"1.0000000000000001","mechanism":"randomized-response"}]},"charge":{"main":"1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (15, x'9c08cedbb6675e2a3d93459dc97b41c360efeda9cd0e509964d8790c32220894', x'badf6eebf3830871c7dc1d87b1c707ad678f9a92f495e0f5af40547d19f24421', 'sums', '{"event":"reserve","at":1794976955,"account":"sums","key":"k4","analyst":null,"release":{"described":[{"epsilon":"0.30000000000000001","mechanism":"exponential"}]},"charge":{"main":"0.299999999999999988897769753748434595763683319091796875","delta":"0"}}');
INSERT INTO ledger_entry VALUES (16, x'badf6eebf3830871c7dc1d87b1c707ad678f9a92f495e0f5af40547d19f24421', x'5854d5e8ad7ce54b0ce4053c17e5b1c42e88a2a5f0e4f595b2b91d65bbf4b4a9', 'sums', '{"event":"reserve","at":1794976955,"account":"sums","key":"k5","analyst":null,"release":{"described":[{"epsilon":"1.0000000000000001","gamma":"0.3","mechanism":"staircase"}]},"charge":{"main":"1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (17, x'5854d5e8ad7ce54b0ce4053c17e5b1c42e88a2a5f0e4f595b2b91d65bbf4b4a9', x'828f379c96627b4533cfdfa20df33bec422ecb1072e9f92f740196c7be27ca26', 'sums', '{"event":"reserve","at":1794976955,"account":"sums","key":"k6","analyst":null,"release":{"described":[{"epsilon_queries":"0.7000000000000001","epsilon_threshold":"0.3","mechanism":"sparse-vector"}]},"charge":{"main":"1.000000000000000055511151231257827021181583404541015625","delta":"0"}}');
INSERT INTO ledger_entry VALUES (18, x'828f379c96627b4533cfdfa20df33bec422ecb1072e9f92f740196c7be27ca26', x'70dd22183423e53cdb61c453099acd6afccb4c705d824cd07127e1a708617ed3', 'sums', '{"event":"reserve","at":1794976956,"account":"sums","key":"k7","analyst":null,"release":{"described":[{"epsilon_queries":"0.4","epsilon_threshold":"0.3","mechanism":"above-threshold"}]},"charge":{"main":"0.700000000000000011102230246251565404236316680908203125","delta":"0"}}');
INSERT INTO ledger_entry VALUES (19, x'70dd22183423e53cdb61c453099acd6afccb4c705d824cd07127e1a708617ed3', x'47609d5ff67dff7225aa4304837bbcc479c8a08cba856cd86d781389fda2ff36', 'sums', '{"event":"reserve","at":1794976956,"account":"sums","key":"k8","analyst":null,"release":{"described":[{"mechanism":"geometric","scale":"3.3"}]},"charge":{"main":"0.303030303030303046614848","delta":"0"}}');
INSERT INTO ledger_entry VALUES (20, x'47609d5ff67dff7225aa4304837bbcc479c8a08cba856cd86d781389fda2ff36', x'bdd0ad73b19c7b93a0fcb2fe6caacd84b8d653a42e7d6554b04604e4c85ae889', 'sums', '{"event":"reserve","at":1794976956,"account":"sums","key":"k10","analyst":null,"release":{"described":[{"mechanism":"laplace","rate":"0.3","scale":"10.1"}]},"charge":{"main":"0.030745640668894070357486","delta":"0"}}');
INSERT INTO ledger_entry VALUES (21, x'bdd0ad73b19c7b93a0fcb2fe6caacd84b8d653a42e7d6554b04604e4c85ae889', x'0b829602c791ed4d3b138bc76306aa9b1bc4ea3e7459f1d8b17f874646c269a5', 'sums', '{"event":"reserve","at":1794976956,"account":"sums","key":"k12","analyst":null,"release":{"described":[{"delta":"0.0000001","mechanism":"name-and-shame"}]},"charge":{"main":"0","delta":"0.0000000999999999999999954748111825886258685613938723690807819366455078125"}}');
INSERT INTO ledger_entry VALUES (22, x'0b829602c791ed4d3b138bc76306aa9b1bc4ea3e7459f1d8b17f874646c269a5', x'6e624367bf60be1e8875565fcec020939890f80afa0f5609506191c4d127b16e', 'sums', '{"event":"reserve","at":1794976956,"account":"sums","key":"k13","analyst":null,"release":{"described":[{"mechanism":"finite","p":["0.7","0.3"],"q":["0.3","0.7"]}]},"charge":{"main":"0.847297860387203587276226","delta":"0"}}');
INSERT INTO ledger_entry VALUES (23, x'6e624367bf60be1e8875565fcec020939890f80afa0f5609506191c4d127b16e', x'2e28a273cf4c3ba1b9c6152cc75c7e1975c67600db709e62b224622f9882bd2a', 'sums', '{"event":"reserve","at":1794976956,"account":"sums","key":"k14","analyst":null,"release":{"described":[{"mechanism":"finite","p":["0.7","0.3"],"q":["0.6","0.4"],"rate":"0.3"}]},"charge":{"main":"0.077961541469711864485566","delta":"0"}}');
INSERT INTO ledger_entry VALUES (24, x'2e28a273cf4c3ba1b9c6152cc75c7e1975c67600db709e62b224622f9882bd2a', x'df3f7de607a5d9b097b2dbccb83f3124e72daf663814bae54fdc628a99fe1240', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k20","analyst":null,"release":{"described":[{"epsilon":"2","mechanism":"approx-dp","rate":"0.1"}]},"charge":{"main":"0.426067157445111181373382","delta":"0","pure":"0.494028708044178771723458"}}');
INSERT INTO ledger_entry VALUES (25, x'df3f7de607a5d9b097b2dbccb83f3124e72daf663814bae54fdc628a99fe1240', x'9af7df2a1762b7f9fdcbe9b45d4aa03c5750478d736d0a54f0581f40a46c030b', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k21","analyst":null,"release":{"described":[{"count":"3","delta":"0.000000001","epsilon":"1","mechanism":"approx-dp","rate":"0.3"}]},"charge":{"main":"1.030873726199059514486172","delta":"0.000000000900000000000000149111251224217484200040839681378201930783689022064208984375"}}');
INSERT INTO ledger_entry VALUES (26, x'9af7df2a1762b7f9fdcbe9b45d4aa03c5750478d736d0a54f0581f40a46c030b', x'0f6789a474f714fdfbdb540f0a6d3061c4d2dcec5247c80cb2037dd6df172c82', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k22","analyst":null,"release":{"described":[{"epsilon":"1.0000000000000001","mechanism":"randomized-response"}]},"charge":{"main":"0.955248374054864411381642","delta":"0","pure":"1"}}');
INSERT INTO ledger_entry VALUES (27, x'0f6789a474f714fdfbdb540f0a6d3061c4d2dcec5247c80cb2037dd6df172c82', x'8e82c097292fbcbbadfb5ba47c50e19bf0fd56e14bffa06af2f2cbba0b2f305b', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k23","analyst":null,"release":{"described":[{"epsilon":"0.30000000000000001","mechanism":"exponential"}]},"charge":{"main":"0.089999999999999993338662","delta":"0","pure":"0.299999999999999988897769753748434595763683319091796875"}}');
INSERT INTO ledger_entry VALUES (28, x'8e82c097292fbcbbadfb5ba47c50e19bf0fd56e14bffa06af2f2cbba0b2f305b', x'a5b30753c46e0f8f921b4547bbbb1436d2d32047af28c052bb1ae85aec1c07d7', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k24","analyst":null,"release":{"described":[{"epsilon":"1.0000000000000001","gamma":"0.3","mechanism":"staircase"}]},"charge":{"main":"0.942820641407408087305282","delta":"0","pure":"1"}}');
INSERT INTO ledger_entry VALUES (29, x'a5b30753c46e0f8f921b4547bbbb1436d2d32047af28c052bb1ae85aec1c07d7', x'731f0dfc6554f8796c6c64c6e97d4e50999d9564ea42bed6e9d53c59e69d7e80', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k25","analyst":null,"release":{"described":[{"epsilon_queries":"0.7000000000000001","epsilon_threshold":"0.3","mechanism":"sparse-vector"}]},"charge":{"main":"0.955248374054864469025507","delta":"0","pure":"1.000000000000000055511151231257827021181583404541015625"}}');
INSERT INTO ledger_entry VALUES (30, x'731f0dfc6554f8796c6c64c6e97d4e50999d9564ea42bed6e9d53c59e69d7e80', x'a563091d2e82b60d6c6e409512c2dfb2ad50f8041892ac648f51c24be520ed51', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k26","analyst":null,"release":{"described":[{"epsilon_queries":"0.4","epsilon_threshold":"0.3","mechanism":"above-threshold"}]},"charge":{"main":"0.621145881034170229555715","delta":"0","pure":"0.700000000000000011102230246251565404236316680908203125"}}');
INSERT INTO ledger_entry VALUES (31, x'a563091d2e82b60d6c6e409512c2dfb2ad50f8041892ac648f51c24be520ed51', x'0da1afc1aff04d59c24a924526b19ce4cc7f605f17d1a02636de48ff79d0265e', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k27","analyst":null,"release":{"described":[{"mechanism":"geometric","scale":"3.3"}]},"charge":{"main":"0.225529245985947765295382","delta":"0","pure":"0.303030303030303046614848"}}');
INSERT INTO ledger_entry VALUES (32, x'0da1afc1aff04d59c24a924526b19ce4cc7f605f17d1a02636de48ff79d0265e', x'add10ee2acb1c63421e265e75fffa8cf2caa7f7e7a33090807e7ac5dc2a0eab0', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k28","analyst":null,"release":{"described":[{"mechanism":"discrete-gaussian","sigma":"3.3"}]},"charge":{"main":"0.36730945821854916718384","delta":"0"}}');
INSERT INTO ledger_entry VALUES (33, x'add10ee2acb1c63421e265e75fffa8cf2caa7f7e7a33090807e7ac5dc2a0eab0', x'7699a040bd340f99a9433143369ee2df3461dbf304b46f1ce55ff52f2fef09d8', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k29","analyst":null,"release":{"described":[{"mechanism":"laplace","rate":"0.3","scale":"10.1"}]},"charge":{"main":"0.003407623089514773885166","delta":"0","pure":"0.030745640668894070357486"}}');
INSERT INTO ledger_entry VALUES (34, x'7699a040bd340f99a9433143369ee2df3461dbf304b46f1ce55ff52f2fef09d8', x'df63466a3a7f2c9b95f3d729cc5993627b2d43a15d5c19cddaa85cf07a50a005', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k30","analyst":null,"release":{"described":[{"mechanism":"gaussian","rate":"0.3","sigma":"10.1"}]},"charge":{"main":"0.003589503481530983217745","delta":"0"}}');
INSERT INTO ledger_entry VALUES (35, x'df63466a3a7f2c9b95f3d729cc5993627b2d43a15d5c19cddaa85cf07a50a005', x'83599a954f0bb2b749021bf899ebc59dba72aca3118b1b3a41a79ec2155fd0af', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k31","analyst":null,"release":{"described":[{"delta":"0.0000001","mechanism":"name-and-shame"}]},"charge":{"main":"0","delta":"0.0000000999999999999999954748111825886258685613938723690807819366455078125"}}');
INSERT INTO ledger_entry VALUES (36, x'83599a954f0bb2b749021bf899ebc59dba72aca3118b1b3a41a79ec2155fd0af', x'cb83a38a0b313226eb25b00d46f81ed84f2a8e7f751452f11419c3ce9874f16d', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k32","analyst":null,"release":{"described":[{"mechanism":"finite","p":["0.7","0.3"],"q":["0.3","0.7"]}]},"charge":{"main":"0.796344728734462396461786","delta":"0","pure":"0.847297860387203587276226"}}');
INSERT INTO ledger_entry VALUES (37, x'cb83a38a0b313226eb25b00d46f81ed84f2a8e7f751452f11419c3ce9874f16d', x'86ed5955c2151ac5190272e5f9b39ef748dd50fe97bc8a26244aab0741c71eac', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k33","analyst":null,"release":{"described":[{"mechanism":"finite","p":["0.7","0.3"],"q":["0.6","0.4"],"rate":"0.3"}]},"charge":{"main":"0.015775495905896250101327","delta":"0","pure":"0.077961541469711864485566"}}');
INSERT INTO ledger_entry VALUES (38, x'86ed5955c2151ac5190272e5f9b39ef748dd50fe97bc8a26244aab0741c71eac', x'a43759524faa2631b9761a5b0c9a291ea91f3ee071244a1f2ad0d4289a139e34', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k34","analyst":null,"release":{"described":[{"mechanism":"gaussian-mixture","probabilities":["0.99","0.01"],"sensitivities":["0","1"],"sigma":"3.3"}]},"charge":{"main":"0.000038698459424020013732","delta":"0"}}');
INSERT INTO ledger_entry VALUES (39, x'a43759524faa2631b9761a5b0c9a291ea91f3ee071244a1f2ad0d4289a139e34', x'64753c4617fdf4a52d1873d16e7268d94b6e1b242e6a333d2a3646fe54e1705e', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k35","analyst":null,"release":{"described":[{"mechanism":"tcdp","omega":"100.1","rho":"0.03"}]},"charge":{"main":"0.239999999999999991118216","delta":"0"}}');
INSERT INTO ledger_entry VALUES (40, x'64753c4617fdf4a52d1873d16e7268d94b6e1b242e6a333d2a3646fe54e1705e', x'fc49046075c575e6bc4c2de29376a0659d28d498c42ddac633b9b276a236a6e0', 'renyi', '{"event":"reserve","at":1794976956,"account":"renyi","key":"k36","analyst":null,"release":{"described":[{"epsilons":["0.1","0.3","0.7"],"mechanism":"rdp","orders":["2.1","8","16.3"]}]},"charge":{"main":"0.299999999999999988897769753748434595763683319091796875","delta":"0"}}');
INSERT INTO ledger_entry VALUES (41, x'fc49046075c575e6bc4c2de29376a0659d28d498c42ddac633b9b276a236a6e0', x'145c6bc36f34ebe3e1087eefda6aa858599af8a563b9c0380060e4414d7160d0', 'renyi', '{"event":"reserve","at":1794976957,"account":"renyi","key":"k37","analyst":null,"release":{"described":[{"mechanism":"gdp","mu":"0.3","rate":"0.3"}]},"charge":{"main":"0.03841197775043848194404","delta":"0"}}');
INSERT INTO ledger_entry VALUES (42, x'145c6bc36f34ebe3e1087eefda6aa858599af8a563b9c0380060e4414d7160d0', x'73b80345848b1b03eaa29d283d3bcaadc0674cf3616b122741e0cb826217ff5f', 'renyi', '{"event":"reserve","at":1794976957,"account":"renyi","key":"k38","analyst":null,"release":{"described":[{"batch":"30","epochs":"0.3","examples":"1000","mechanism":"gaussian","sigma":"11.3"}]},"charge":{"main":"0.00028342884130020141811","delta":"0"}}');
INSERT INTO ledger_entry VALUES (43, x'73b80345848b1b03eaa29d283d3bcaadc0674cf3616b122741e0cb826217ff5f', x'71c6d962d56078334a9e12e2ee2fe8c7c8497084b5218d3c1fc840072df982e2', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k39","analyst":null,"release":{"described":[{"epsilon":"2","mechanism":"approx-dp","rate":"0.1"}]},"charge":{"main":"0.119609322832293130001965","delta":"0","pure":"0.494028708044178771723458"}}');
INSERT INTO ledger_entry VALUES (44, x'71c6d962d56078334a9e12e2ee2fe8c7c8497084b5218d3c1fc840072df982e2', x'fd7910cb97681a818934cdb6a7e871c5bc1e1da9d52736092b7b2c7d4394a73e', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k40","analyst":null,"release":{"described":[{"count":"3","delta":"0.000000001","epsilon":"1","mechanism":"approx-dp","rate":"0.3"}]},"charge":{"main":"0.25558306442534222646663","delta":"0.000000000900000000000000149111251224217484200040839681378201930783689022064208984375"}}');
INSERT INTO ledger_entry VALUES (45, x'fd7910cb97681a818934cdb6a7e871c5bc1e1da9d52736092b7b2c7d4394a73e', x'13e7b449ffc7f783291e3d05ff3395ad84dc3fda80fef10281ffaacd32b4cbdd', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k41","analyst":null,"release":{"described":[{"epsilon":"1.0000000000000001","mechanism":"randomized-response"}]},"charge":{"main":"0.462117157260009758502319","delta":"0","pure":"1"}}');
INSERT INTO ledger_entry VALUES (46, x'13e7b449ffc7f783291e3d05ff3395ad84dc3fda80fef10281ffaacd32b4cbdd', x'872e26855aefb485b53315e677fa6bfdbc80a9fbedb1b88d854679863196b8fa', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k42","analyst":null,"release":{"described":[{"epsilon":"0.30000000000000001","mechanism":"exponential"}]},"charge":{"main":"0.011249999999999999167332731531132610089715804029771590072823540679418548304813185723105561919510364532470703125","delta":"0","pure":"0.299999999999999988897769753748434595763683319091796875"}}');
INSERT INTO ledger_entry VALUES (47, x'872e26855aefb485b53315e677fa6bfdbc80a9fbedb1b88d854679863196b8fa', x'992f3b63421b5c5483218c5c5a80a519ce4297e0f039392ab068b0322610a1db', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k43","analyst":null,"release":{"described":[{"epsilon":"1.0000000000000001","gamma":"0.3","mechanism":"staircase"}]},"charge":{"main":"0.462117157260009758502319","delta":"0","pure":"1"}}');
INSERT INTO ledger_entry VALUES (48, x'992f3b63421b5c5483218c5c5a80a519ce4297e0f039392ab068b0322610a1db', x'72b302aae2dc5887f0ba6ae3d48ea35cf1baf16f2126068e5976b5cab38f177f', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k44","analyst":null,"release":{"described":[{"epsilon_queries":"0.7000000000000001","epsilon_threshold":"0.3","mechanism":"sparse-vector"}]},"charge":{"main":"0.462117157260009805983284","delta":"0","pure":"1.000000000000000055511151231257827021181583404541015625"}}');
INSERT INTO ledger_entry VALUES (49, x'72b302aae2dc5887f0ba6ae3d48ea35cf1baf16f2126068e5976b5cab38f177f', x'c1d6f87f546f82b6aed933c6e5ed80fbe1db509c31d5edf72322fdb2cca43eb3', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k45","analyst":null,"release":{"described":[{"epsilon_queries":"0.4","epsilon_threshold":"0.3","mechanism":"above-threshold"}]},"charge":{"main":"0.235462881035432556323733","delta":"0","pure":"0.700000000000000011102230246251565404236316680908203125"}}');
INSERT INTO ledger_entry VALUES (50, x'c1d6f87f546f82b6aed933c6e5ed80fbe1db509c31d5edf72322fdb2cca43eb3', x'8b5c7f7893d392e50e658ae9364f6e047fd9a74374e0998c9e0ee12b19f56c37', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k46","analyst":null,"release":{"described":[{"mechanism":"geometric","scale":"3.3"}]},"charge":{"main":"0.045565534507365088709966","delta":"0","pure":"0.303030303030303046614848"}}');
INSERT INTO ledger_entry VALUES (51, x'8b5c7f7893d392e50e658ae9364f6e047fd9a74374e0998c9e0ee12b19f56c37', x'a7ea953f620b64569d3cc519aee0a17df9aff261129064f8d2cbd8af3eb09894', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k47","analyst":null,"release":{"described":[{"mechanism":"discrete-gaussian","sigma":"3.3"}]},"charge":{"main":"0.04591368227731864589798","delta":"0"}}');
INSERT INTO ledger_entry VALUES (52, x'a7ea953f620b64569d3cc519aee0a17df9aff261129064f8d2cbd8af3eb09894', x'afba75cb6469117c53cd60edfe1eab5782dfcee297c67bc6cd5d37cb19ba18b9', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k48","analyst":null,"release":{"described":[{"mechanism":"laplace","rate":"0.3","scale":"10.1"}]},"charge":{"main":"0.000472609981025415510495","delta":"0","pure":"0.030745640668894070357486"}}');
INSERT INTO ledger_entry VALUES (53, x'afba75cb6469117c53cd60edfe1eab5782dfcee297c67bc6cd5d37cb19ba18b9', x'95dc95a80ccfe361b5964e3b56db8d494e183cb3e27c8b5728e85258e9775519', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k50","analyst":null,"release":{"described":[{"delta":"0.0000001","mechanism":"name-and-shame"}]},"charge":{"main":"0","delta":"0.0000000999999999999999954748111825886258685613938723690807819366455078125"}}');
INSERT INTO ledger_entry VALUES (54, x'95dc95a80ccfe361b5964e3b56db8d494e183cb3e27c8b5728e85258e9775519', x'29be5346bb4e8419758b6bbb617505b583d8c7ebe1a2c79f24a70fe584e015e9', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k51","analyst":null,"release":{"described":[{"mechanism":"finite","p":["0.7","0.3"],"q":["0.3","0.7"]}]},"charge":{"main":"0.338919144154881425503595","delta":"0","pure":"0.847297860387203587276226"}}');
INSERT INTO ledger_entry VALUES (55, x'29be5346bb4e8419758b6bbb617505b583d8c7ebe1a2c79f24a70fe584e015e9', x'041112cf05a183c43573b26a82b1378b581cf50face02798f277966b31816f4b', 'zcdp', '{"event":"reserve","at":1794976957,"account":"zcdp","key":"k52","analyst":null,"release":{"described":[{"mechanism":"finite","p":["0.7","0.3"],"q":["0.6","0.4"],"rate":"0.3"}]},"charge":{"main":"0.003037462654664098849898","delta":"0","pure":"0.077961541469711864485566"}}');
INSERT INTO ledger_entry VALUES (56, x'041112cf05a183c43573b26a82b1378b581cf50face02798f277966b31816f4b', x'ebc7376197668db3799c4679261918abbcbf90cf930f0a24ae97accc243e1cdf', 'gdp', '{"event":"reserve","at":1794976957,"account":"gdp","key":"k58","analyst":null,"release":{"described":[{"epsilon":"2","mechanism":"approx-dp","rate":"0.1"}]},"charge":{"main":"0.380079297370381555566686","delta":"0","pure":"0.494028708044178771723458"}}');
INSERT INTO ledger_entry VALUES (57, x'ebc7376197668db3799c4679261918abbcbf90cf930f0a24ae97accc243e1cdf', x'b7dbf46100043cad44285056e33a38205d7fcebf41b232f5b3381fd85ebabae3', 'gdp', '{"event":"reserve","at":1794976957,"account":"gdp","key":"k60","analyst":null,"release":{"described":[{"epsilon":"1.0000000000000001","mechanism":"randomized-response"}]},"charge":{"main":"1.517911190741958920949106","delta":"0","pure":"1"}}');
INSERT INTO ledger_entry VALUES (58, x'b7dbf46100043cad44285056e33a38205d7fcebf41b232f5b3381fd85ebabae3', x'35e0b857f849cdb489a8313cddd21ec77b07c121bfb2eb6016580dc260f8a861', 'gdp', '{"event":"reserve","at":1794976957,"account":"gdp","key":"k61","analyst":null,"release":{"described":[{"epsilon":"0.30000000000000001","mechanism":"exponential"}]},"charge":{"main":"0.14091915309679511395803","delta":"0","pure":"0.299999999999999988897769753748434595763683319091796875"}}');
INSERT INTO ledger_entry VALUES (59, x'35e0b857f849cdb489a8313cddd21ec77b07c121bfb2eb6016580dc260f8a861', x'c575d8026edfdcb89d468ebb08f8cc2426ca741d56c0032cbd809b10b90f588d', 'gdp', '{"event":"reserve","at":1794976957,"account":"gdp","key":"k62","analyst":null,"release":{"described":[{"epsilon":"1.0000000000000001","gamma":"0.3","mechanism":"staircase"}]},"charge":{"main":"1.517911190741958920949106","delta":"0","pure":"1"}}');
INSERT INTO ledger_entry VALUES (60, x'c575d8026edfdcb89d468ebb08f8cc2426ca741d56c0032cbd809b10b90f588d', x'55b540c5ae0fd5f2dd6f3aa05cdef587ce02d3b80f8c4c18a835e0791e335831', 'gdp', '{"event":"reserve","at":1794976957,"account":"gdp","key":"k63","analyst":null,"release":{"described":[{"epsilon_queries":"0.7000000000000001","epsilon_threshold":"0.3","mechanism":"sparse-vector"}]},"charge":{"main":"1.517911190741958920949106","delta":"0","pure":"1.000000000000000055511151231257827021181583404541015625"}}');
INSERT INTO ledger_entry VALUES (61, x'55b540c5ae0fd5f2dd6f3aa05cdef587ce02d3b80f8c4c18a835e0791e335831', x'6d01be3c78f2232b65c4a4591b105d76670e73d8c25e7ff77877fadce84d2bbf', 'gdp', '{"event":"reserve","at":1794976957,"account":"gdp","key":"k64","analyst":null,"release":{"described":[{"epsilon_queries":"0.4","epsilon_threshold":"0.3","mechanism":"above-threshold"}]},"charge":{"main":"0.756602650305877966572256","delta":"0","pure":"0.700000000000000011102230246251565404236316680908203125"}}');
INSERT INTO ledger_entry VALUES (62, x'6d01be3c78f2232b65c4a4591b105d76670e73d8c25e7ff77877fadce84d2bbf', x'd9a3431ecdfa3f56fd98e2581bdf8cc79e1659697b9d4e8a2bc009a8673b767b', 'gdp', '{"event":"reserve","at":1794976958,"account":"gdp","key":"k65","analyst":null,"release":{"described":[{"mechanism":"geometric","scale":"3.3"}]},"charge":{"main":"0.143771062056754185172624","delta":"0","pure":"0.303030303030303046614848"}}');
INSERT INTO ledger_entry VALUES (63, x'd9a3431ecdfa3f56fd98e2581bdf8cc79e1659697b9d4e8a2bc009a8673b767b', x'28ca07b7f1abe851fdfe694a464d015a11800522bb726f802f4c2109e4519e2d', 'gdp', '{"event":"reserve","at":1794976958,"account":"gdp","key":"k67","analyst":null,"release":{"described":[{"mechanism":"laplace","rate":"0.3","scale":"10.1"}]},"charge":{"main":"0.001484814802125443887714","delta":"0","pure":"0.030745640668894070357486"}}');
INSERT INTO ledger_entry VALUES (64, x'28ca07b7f1abe851fdfe694a464d015a11800522bb726f802f4c2109e4519e2d', x'4797f9c94b0be633456a2c8efff20af1fc5a3f386b945005c80a6656a27889d9', 'gdp', '{"event":"reserve","at":1794976958,"account":"gdp","key":"k70","analyst":null,"release":{"described":[{"mechanism":"finite","p":["0.7","0.3"],"q":["0.3","0.7"]}]},"charge":{"main":"1.099983590913824149952009","delta":"0","pure":"0.847297860387203587276226"}}');
INSERT INTO ledger_entry VALUES (65, x'4797f9c94b0be633456a2c8efff20af1fc5a3f386b945005c80a6656a27889d9', x'3b8c7e5f697ae25cb3e9ee68ea3854d8d89d304b41deb7a64795f8ef1c0daac0', 'gdp', '{"event":"reserve","at":1794976958,"account":"gdp","key":"k71","analyst":null,"release":{"described":[{"mechanism":"finite","p":["0.7","0.3"],"q":["0.6","0.4"],"rate":"0.3"}]},"charge":{"main":"0.00954522842422975089553","delta":"0","pure":"0.077961541469711864485566"}}');
INSERT INTO ledger_entry VALUES (66, x'3b8c7e5f697ae25cb3e9ee68ea3854d8d89d304b41deb7a64795f8ef1c0daac0', x'5e303970533da99537c6b059518834779f40b6c98ff51f007fcc7a827dcd12ff', 'persons', '{"event":"reserve","at":1794976958,"account":"persons","key":"k77","analyst":null,"release":{"described":[{"mechanism":"gaussian-mixture","probabilities":["0.99","0.01"],"sensitivities":["0","1"],"sigma":"3.3"}]},"charge":{"main":"0.000019272885699220654625","delta":"0"}}');
INSERT INTO ledger_entry VALUES (67, x'5e303970533da99537c6b059518834779f40b6c98ff51f007fcc7a827dcd12ff', x'79ca1395b75d959bca5624a19481a215d507bdb5ba381424d67d5eb8ca7dab9b', 'persons', '{"event":"reserve","at":1794976958,"account":"persons","key":"k78","analyst":null,"release":{"described":[{"epsilon":"0.3","mechanism":"randomized-response"}]},"charge":{"main":"0.153721426237075939092295","delta":"0","pure":"0.299999999999999988897769753748434595763683319091796875"}}');
INSERT INTO ledger_entry VALUES (68, x'79ca1395b75d959bca5624a19481a215d507bdb5ba381424d67d5eb8ca7dab9b', x'156128f8f65b07e6148085d0bf12712362e2547f8544e9e03cbc4bfdb32a7667', 'persons', '{"event":"reserve","at":1794976958,"account":"persons","key":"k79","analyst":null,"release":{"described":[{"mechanism":"finite","p":["0.7","0.3"],"q":["0.3","0.7"]}]},"charge":{"main":"0.729290238796570256627868","delta":"0","pure":"0.847297860387203587276226"}}');
INSERT INTO ledger_entry VALUES (69, x'156128f8f65b07e6148085d0bf12712362e2547f8544e9e03cbc4bfdb32a7667', x'0416ed070bc6458a14cfe2db03fa82fc094153d8518167fc81f361f6d6fe78d9', 'persons', '{"event":"reserve","at":1794976958,"account":"persons","key":"k80","analyst":null,"release":{"described":[{"epsilon":"0.3","mechanism":"approx-dp"}]},"charge":{"main":"0.153721426237075988346965","delta":"0","pure":"0.3"}}');
INSERT INTO ledger_entry VALUES (70, x'0416ed070bc6458a14cfe2db03fa82fc094153d8518167fc81f361f6d6fe78d9', x'd716db673f4822887e2d90370b631103bd090f3f289778abb461d645ba11736b', 'plan', '{"event":"reserve","at":1794976958,"account":"plan","key":"p1","analyst":null,"release":{"slot":{"name":"sampled","count":1}},"charge":{"main":"1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (71, x'd716db673f4822887e2d90370b631103bd090f3f289778abb461d645ba11736b', x'bee9c472582d698e89e9e3eb8169c75c6a5539797690f383a7de19bba5a7d475', 'plan', '{"event":"reserve","at":1794976958,"account":"plan","key":"p2","analyst":null,"release":{"slot":{"name":"sampled","count":1,"run":[{"epsilon":"0.3","mechanism":"approx-dp"}]}},"charge":{"main":"1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (72, x'bee9c472582d698e89e9e3eb8169c75c6a5539797690f383a7de19bba5a7d475', x'69ccb697b320a9f1b7312ff5c4c7747eed81cdc8de11ff80c63bd7520649c32d', 'plan', '{"event":"reserve","at":1794976958,"account":"plan","key":"p3","analyst":null,"release":{"slot":{"name":"sampled","count":1,"run":[{"delta":"0.000000001","epsilon":"2","mechanism":"approx-dp","rate":"0.05"}]}},"charge":{"main":"1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (73, x'69ccb697b320a9f1b7312ff5c4c7747eed81cdc8de11ff80c63bd7520649c32d', x'e0c3379a6094323dcd06e82aac6d552e802de85a51e917a8c77ce66ddf5f77a6', 'plan', '{"event":"reserve","at":1794976958,"account":"plan","key":"p4","analyst":null,"release":{"slot":{"name":"pure","count":1,"run":[{"mechanism":"laplace","scale":"3"}]}},"charge":{"main":"1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (74, x'e0c3379a6094323dcd06e82aac6d552e802de85a51e917a8c77ce66ddf5f77a6', x'8638aacbf4bf3349be312b490ece0752fc1476dd9096b8168f5ff890f22cce39', 'plan', '{"event":"reserve","at":1794976958,"account":"plan","key":"p5","analyst":null,"release":{"slot":{"name":"finite","count":1,"run":[{"epsilon":"0.7","mechanism":"randomized-response"}]}},"charge":{"main":"1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (75, x'8638aacbf4bf3349be312b490ece0752fc1476dd9096b8168f5ff890f22cce39', x'42f1995892c9213c38b095f0c8ec90f2b5fef9f35ff50f12e6c8a579f0147a17', 'within', '{"event":"open","at":1794976958,"account":"within","parent":"plan","slot":"pure","rule":{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"0.3","delta":"0"},"capacity":{"main":"0.3","delta":"0"}}},"charge":{"main":"1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (76, x'42f1995892c9213c38b095f0c8ec90f2b5fef9f35ff50f12e6c8a579f0147a17', x'b918606dca2034db0995a4225cceb41a6e452f0eb91c4a6fde7488dc265dd58c', 'plan', '{"event":"recut","at":1794976958,"account":"plan","unused":[{"slot":"pure","count":1}],"into":[{"name":"recut","count":1,"release":{"count":"1","epsilon":"0.2","mechanism":"approx-dp","name":"recut"}}]}');
INSERT INTO ledger_entry VALUES (77, x'b918606dca2034db0995a4225cceb41a6e452f0eb91c4a6fde7488dc265dd58c', x'1e7ec41db8eb7f01d7e27719a7ec01befc1ec1325b95d56ed6e632adae0f5e6f', 'sums', '{"event":"commit","at":1794976958,"account":"sums","key":"k1","sha256":"084c799cd551dd1d8d5c5f9a5d593b2e931f5e36122ee5c793c1d08a19839cc0","length":3}');
INSERT INTO ledger_head VALUES (1, 77, x'1e7ec41db8eb7f01d7e27719a7ec01befc1ec1325b95d56ed6e632adae0f5e6f');
INSERT INTO ledger_account VALUES ('census', NULL, NULL, 2, 'add-remove', 1, NULL, '{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"400","delta":"0.01"},"capacity":{"main":"400","delta":"0.01"}}}', '0000000000000000000000000000000000000400', '0000000000000000000000000000000000000000.01', NULL, '0000000000000000000000000000000000000169.241705222383515661022102', '0000000000000000000000000000000000000000.00041', NULL, 5, 0, NULL);
INSERT INTO ledger_account VALUES ('many', NULL, NULL, 3, 'add-remove', 5, NULL, '{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"100","delta":"0.001"},"capacity":{"main":"100","delta":"0.001"}}}', '0000000000000000000000000000000000000100', '0000000000000000000000000000000000000000.001', NULL, '0000000000000000000000000000000000000040', '0000000000000000000000000000000000000000.0001', NULL, 1, 0, NULL);
INSERT INTO ledger_account VALUES ('swapped', NULL, NULL, 4, 'replace', 1, NULL, '{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"100","delta":"0.001"},"capacity":{"main":"100","delta":"0.001"}}}', '0000000000000000000000000000000000000100', '0000000000000000000000000000000000000000.001', NULL, '0000000000000000000000000000000000000040', '0000000000000000000000000000000000000000.0001', NULL, 1, 0, NULL);
INSERT INTO ledger_account VALUES ('sums', 'census', NULL, 5, 'add-remove', 1, NULL, '{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"40","delta":"0.0001"}}}', '0000000000000000000000000000000000000040', '0000000000000000000000000000000000000000.0001', NULL, '0000000000000000000000000000000000000007.000269719131177415212764231257827021181583404541015625', '0000000000000000000000000000000000000000.000000100899999999999995623922433812843352761434712050458983867429196834564208984375', NULL, 12, 0, NULL);
INSERT INTO ledger_account VALUES ('renyi', 'census', NULL, 6, 'add-remove', 1, NULL, '{"filter":{"kind":"renyi","order":"8","promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"39.015810533930766606398129","delta":"0.00005","pure":"40"}}}', '0000000000000000000000000000000000000039.015810533930766606398129', '0000000000000000000000000000000000000000.00005', '0000000000000000000000000000000000000040', '0000000000000000000000000000000000000007.012094314662541906003475753748434595763683319091796875', '0000000000000000000000000000000000000000.000000100899999999999995623922433812843352761434712050458983867429196834564208984375', NULL, 19, 0, NULL);
INSERT INTO ledger_account VALUES ('zcdp', 'census', NULL, 7, 'add-remove', 1, NULL, '{"filter":{"kind":"zcdp","order":null,"promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"16.223133987298103927436254","delta":"0.00005","pure":"40"}}}', '0000000000000000000000000000000000000016.223133987298103927436254', '0000000000000000000000000000000000000000.00005', '0000000000000000000000000000000000000040', '0000000000000000000000000000000000000002.442165173648351909419516731531132610089715804029771590072823540679418548304813185723105561919510364532470703125', '0000000000000000000000000000000000000000.000000100899999999999995623922433812843352761434712050458983867429196834564208984375', NULL, 13, 0, NULL);
INSERT INTO ledger_account VALUES ('gdp', 'census', NULL, 8, 'add-remove', 1, NULL, '{"filter":{"kind":"gdp","order":null,"promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"36.5724040878554044047032171402291167194070104025","delta":"0","pure":"40"}}}', '0000000000000000000000000000000000000036.5724040878554044047032171402291167194070104025', '0000000000000000000000000000000000000000', '0000000000000000000000000000000000000040', '0000000000000000000000000000000000000007.086119369195864928852167', '0000000000000000000000000000000000000000', '0000000000000000000000000000000000000005.753064053600291395968735231257827021181583404541015625', 10, 0, NULL);
INSERT INTO ledger_account VALUES ('persons', 'many', NULL, 9, 'add-remove', 5, NULL, '{"filter":{"kind":"renyi","order":"4","promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"37.448617675313035118554307","delta":"0.00005","pure":"40"}}}', '0000000000000000000000000000000000000037.448617675313035118554307', '0000000000000000000000000000000000000000.00005', '0000000000000000000000000000000000000040', '0000000000000000000000000000000000000001.036752364156421404721753', '0000000000000000000000000000000000000000', NULL, 4, 0, NULL);
INSERT INTO ledger_account VALUES ('pairs', 'swapped', NULL, 10, 'replace', 1, NULL, '{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"40","delta":"0.0001"},"capacity":{"main":"40","delta":"0.0001"}}}', '0000000000000000000000000000000000000040', '0000000000000000000000000000000000000000.0001', NULL, '0000000000000000000000000000000000000000', '0000000000000000000000000000000000000000', NULL, 0, 0, NULL);
INSERT INTO ledger_account VALUES ('plan', 'census', NULL, 11, 'add-remove', 1, NULL, '{"plan":{"epsilon":"9.241705222383515661022102","delta":"0.00001","slots":[]}}', '0000000000000000000000000000000000000012', '0000000000000000000000000000000000000000', NULL, '0000000000000000000000000000000000000007', '0000000000000000000000000000000000000000', NULL, 6, 0, NULL);
INSERT INTO ledger_account VALUES ('within', 'plan', 'pure', 75, 'add-remove', 1, NULL, '{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"0.3","delta":"0"},"capacity":{"main":"0.3","delta":"0"}}}', '0000000000000000000000000000000000000000.3', '0000000000000000000000000000000000000000', NULL, '0000000000000000000000000000000000000000', '0000000000000000000000000000000000000000', NULL, 0, 0, NULL);
INSERT INTO ledger_slot VALUES ('plan', 'sampled', 4, 3, '{"count":"4","delta":"0.000000001","epsilon":"2","mechanism":"approx-dp","name":"sampled","rate":"0.1"}');
INSERT INTO ledger_slot VALUES ('plan', 'pure', 4, 3, '{"count":"4","epsilon":"1","mechanism":"approx-dp","name":"pure","rate":"0.25"}');
INSERT INTO ledger_slot VALUES ('plan', 'finite', 3, 1, '{"count":"3","mechanism":"finite","name":"finite","p":["0.7","0.2","0.1"],"q":["0.1","0.2","0.7"]}');
INSERT INTO ledger_slot VALUES ('plan', 'recut', 1, 0, '{"count":"1","epsilon":"0.2","mechanism":"approx-dp","name":"recut"}');
INSERT INTO ledger_release VALUES ('k1', 'sums', NULL, 0, x'ed58e1630ad49f824ed6bf2a84035d83205ed153e1be797581bc5e2184fe978a', 12, 77, x'34320a');
INSERT INTO ledger_release VALUES ('k2', 'sums', NULL, 0, x'816e3fbd8f7b822a7c11ddf536c367db621215b881a090e7630ae2bd9ae6bdc6', 13, NULL, NULL);
INSERT INTO ledger_release VALUES ('k3', 'sums', NULL, 0, x'0618b29b713968245a23eb7be1396d005648ee282288981c3bdf5366cfe71116', 14, NULL, NULL);
INSERT INTO ledger_release VALUES ('k4', 'sums', NULL, 0, x'c2499f81ace3e019e50f43a58a3f5ae44b1271e0bd6342b858267695a1d532d5', 15, NULL, NULL);
INSERT INTO ledger_release VALUES ('k5', 'sums', NULL, 0, x'3ee5f1a17786fd5ab0af1ebd0500f086c94b23c6b9546132a5a8131fbd64acd7', 16, NULL, NULL);
INSERT INTO ledger_release VALUES ('k6', 'sums', NULL, 0, x'cdd9205919461f17fda049c29bda8fcc6858ecd91a943626c1f6a8fcf772f300', 17, NULL, NULL);
INSERT INTO ledger_release VALUES ('k7', 'sums', NULL, 0, x'c9b2e27f32bf7f15d3ffbcbf110bd3225fb958dfbc02ae4d5edbf426ca3045d5', 18, NULL, NULL);
INSERT INTO ledger_release VALUES ('k8', 'sums', NULL, 0, x'8d9a2933e773196d93b54381e3e573eed370159ef1c1ecdd339b263c32570b10', 19, NULL, NULL);
INSERT INTO ledger_release VALUES ('k10', 'sums', NULL, 0, x'19b5c93263b2a29942e11e629bc23e29cb77fae8ad485aa5c458f6c664c06f45', 20, NULL, NULL);
INSERT INTO ledger_release VALUES ('k12', 'sums', NULL, 0, x'fd27a102cadc919831de4e1fe08e852f61b6fb2aa88529e4db6def31b4e4deca', 21, NULL, NULL);
INSERT INTO ledger_release VALUES ('k13', 'sums', NULL, 0, x'eb342c9323c322c02df03aee73e9a0d60323db0726fbecca36043a62a351a8e1', 22, NULL, NULL);
INSERT INTO ledger_release VALUES ('k14', 'sums', NULL, 0, x'6bab1105de40fe5c3939fb1b606d496d8b7ac25d459d3c7c1d2efbd28b7da7a1', 23, NULL, NULL);
INSERT INTO ledger_release VALUES ('k20', 'renyi', NULL, 0, x'792e4ecf0d023425b453e3169d0a5664c1988ff7c91a2038042d7dba7a3fff31', 24, NULL, NULL);
INSERT INTO ledger_release VALUES ('k21', 'renyi', NULL, 0, x'd0b4c2cb9643e9bd7ee481c9e70f497ceb8ecddd0c7d0116c3e78f353c25e4a0', 25, NULL, NULL);
INSERT INTO ledger_release VALUES ('k22', 'renyi', NULL, 0, x'fca57c8c1d4aadf86f23f356cc682169d4da66b8f64090f6e14bbeb7ce01d8b9', 26, NULL, NULL);
INSERT INTO ledger_release VALUES ('k23', 'renyi', NULL, 0, x'a492d3d64db540f2657a828d9a000acb8b39079e553affc1e97971b565c950b3', 27, NULL, NULL);
INSERT INTO ledger_release VALUES ('k24', 'renyi', NULL, 0, x'edefbf09d46ed095970e213c417b8d58921dec9a1c0d457ed64842753a6f51c1', 28, NULL, NULL);
INSERT INTO ledger_release VALUES ('k25', 'renyi', NULL, 0, x'49e7e787acd1e3b0aefa0f0383be46f1bf9749a6f7c2ff688fa8b022d118019a', 29, NULL, NULL);
INSERT INTO ledger_release VALUES ('k26', 'renyi', NULL, 0, x'247b1a2d094e1b5fa52610d53c207112608d05cf6ff2528ff03ccd9e7933d5d0', 30, NULL, NULL);
INSERT INTO ledger_release VALUES ('k27', 'renyi', NULL, 0, x'f75226b48a9419543791b9d1be55ceef8ba864464d322fe94658e419bbefc205', 31, NULL, NULL);
INSERT INTO ledger_release VALUES ('k28', 'renyi', NULL, 0, x'77543b40d44a6501000709bebb99d241fc18ebf982a2ff414d8a043c337c30bb', 32, NULL, NULL);
INSERT INTO ledger_release VALUES ('k29', 'renyi', NULL, 0, x'd54a63e897ca399565de1b97e1108eb8be998ccab0ea14e1ac69022dd4b1b860', 33, NULL, NULL);
INSERT INTO ledger_release VALUES ('k30', 'renyi', NULL, 0, x'8d6dfec95030ded7a8054631fd060aba53e600eda7c299c39d0a705326abbc00', 34, NULL, NULL);
INSERT INTO ledger_release VALUES ('k31', 'renyi', NULL, 0, x'1091ad942d83243fdad7a83c36a5f7867aafe62331cf8ed3518989d738bd0a60', 35, NULL, NULL);
INSERT INTO ledger_release VALUES ('k32', 'renyi', NULL, 0, x'28e9cb524b51c1d2e373b8ccbf87b6e5d3459bc47c640ea62638c20cd18884b1', 36, NULL, NULL);
INSERT INTO ledger_release VALUES ('k33', 'renyi', NULL, 0, x'1399d55ab44b2d25c42c851702a9e6b7710d90caa69e9ea1f01dee81003dfbc2', 37, NULL, NULL);
INSERT INTO ledger_release VALUES ('k34', 'renyi', NULL, 0, x'144a165b71743e7446d882b976ac4271ac7d8fc783532ae04606e9d57f8a36c3', 38, NULL, NULL);
INSERT INTO ledger_release VALUES ('k35', 'renyi', NULL, 0, x'e55e73038b4d5f111d08c6a973d42160d9b1c133d83de9709745179cbd1c62a2', 39, NULL, NULL);
INSERT INTO ledger_release VALUES ('k36', 'renyi', NULL, 0, x'661fcbcd3bbe4d60a561094a62954190328f53fd2772a2148e787d21c55f27d5', 40, NULL, NULL);
INSERT INTO ledger_release VALUES ('k37', 'renyi', NULL, 0, x'abf226f949d85e616c02c80cb4bce950d112ad72bd76a0c0c7f42ed33359b6c1', 41, NULL, NULL);
INSERT INTO ledger_release VALUES ('k38', 'renyi', NULL, 0, x'bd395c930fd8a5301a8188b8045a38f95bfb08167663a6dc5433d121207db3c8', 42, NULL, NULL);
INSERT INTO ledger_release VALUES ('k39', 'zcdp', NULL, 0, x'0f227ad307819c08f25e609b5ec4d93d14873ef4f6a38fd782c668d7548d6073', 43, NULL, NULL);
INSERT INTO ledger_release VALUES ('k40', 'zcdp', NULL, 0, x'09a9cb9baf3e900b9c077cc7ba5d87f1b728f3c1f27fd54ebf25ede1e0f2ee45', 44, NULL, NULL);
INSERT INTO ledger_release VALUES ('k41', 'zcdp', NULL, 0, x'8c3b597e62b2ed972ab1c15a79d64ddbab578e87457f30167852e8fe6361f2db', 45, NULL, NULL);
INSERT INTO ledger_release VALUES ('k42', 'zcdp', NULL, 0, x'0b9a81b9d663ec9b97f689df2d952408c00ff785f9867cbd9310f6785ec36a3a', 46, NULL, NULL);
INSERT INTO ledger_release VALUES ('k43', 'zcdp', NULL, 0, x'ca1610676e1b252a399fb191484ec35e8df859557fe4b1294a09e4f791e82da2', 47, NULL, NULL);
INSERT INTO ledger_release VALUES ('k44', 'zcdp', NULL, 0, x'5b17f6ab7c8621a1c14c337f30464153b7e752ab0b78318b5f433d2b5aae2be0', 48, NULL, NULL);
INSERT INTO ledger_release VALUES ('k45', 'zcdp', NULL, 0, x'2114af97701ebbf6cc04011dba70976f5058ad3a821f00ddf7d3d923ad44c372', 49, NULL, NULL);
INSERT INTO ledger_release VALUES ('k46', 'zcdp', NULL, 0, x'7eb32340df0e6a85275dbf4efdadae27968f5964f08191c000a1d02bdc66f8fc', 50, NULL, NULL);
INSERT INTO ledger_release VALUES ('k47', 'zcdp', NULL, 0, x'd65e1b86814848286f31f5ae18776b4f1ff32dcf14e8c17b01cfb3ea56adc8c6', 51, NULL, NULL);
INSERT INTO ledger_release VALUES ('k48', 'zcdp', NULL, 0, x'b854f0a0d969276208e0b5bdf1f5c99ed39f41f9aa8fb91b90bd483d51f8322f', 52, NULL, NULL);
INSERT INTO ledger_release VALUES ('k50', 'zcdp', NULL, 0, x'87dea4aa1151db1ce407ca4b0ee719a8491a4d9618825a170fbd1634018098f8', 53, NULL, NULL);
INSERT INTO ledger_release VALUES ('k51', 'zcdp', NULL, 0, x'6d60a9cc59ad64628f4631449cb1db7834e6c1aede1b0a7143bbd9ee389f3c00', 54, NULL, NULL);
INSERT INTO ledger_release VALUES ('k52', 'zcdp', NULL, 0, x'ef3db84c230674926a59bea12bab2f0fd5e358648a629c0a5925a0fd0438b4de', 55, NULL, NULL);
INSERT INTO ledger_release VALUES ('k58', 'gdp', NULL, 0, x'1fd10a27f8c7c1d1e9ff06f9700b1c94f48f5ab3c6b5de121a294dff11daf7d6', 56, NULL, NULL);
INSERT INTO ledger_release VALUES ('k60', 'gdp', NULL, 0, x'72326f18ca912b9751293c0d560e8ff214f0956cb37fd83d96495bf5b3ff4d55', 57, NULL, NULL);
INSERT INTO ledger_release VALUES ('k61', 'gdp', NULL, 0, x'cbccc5bf7ddb261a7c01aad1ceaeb2a72bec91fada88e33e311a989dae0f42f9', 58, NULL, NULL);
INSERT INTO ledger_release VALUES ('k62', 'gdp', NULL, 0, x'341f11c29850c16676f98d248ab6f801fbd075d679327ac02cb039c133d6e628', 59, NULL, NULL);
INSERT INTO ledger_release VALUES ('k63', 'gdp', NULL, 0, x'4e3e0d2eb266ac59b7daa61192ef69ebcfd0043047630e9c46cc753592522cf3', 60, NULL, NULL);
INSERT INTO ledger_release VALUES ('k64', 'gdp', NULL, 0, x'69a90afd82999b1e6049e867eac5fb3de94ce769a10adace10372d09900dde26', 61, NULL, NULL);
INSERT INTO ledger_release VALUES ('k65', 'gdp', NULL, 0, x'f3337b786d998cbd1aaf9f8ae88eec85e4668ff92d3ac1f37d15dd2ff6c6f701', 62, NULL, NULL);
INSERT INTO ledger_release VALUES ('k67', 'gdp', NULL, 0, x'b781c2b34a898b42750f6e63bba5907312bb71841535a668f4b9b747675e66b1', 63, NULL, NULL);
INSERT INTO ledger_release VALUES ('k70', 'gdp', NULL, 0, x'cb6a160c9fcf73b1adeb870fde1eb09adae573b37f478bb3c266bc105e51fa50', 64, NULL, NULL);
INSERT INTO ledger_release VALUES ('k71', 'gdp', NULL, 0, x'3449a244074b0c952311355f14273cdc7b1f0d3abb4f89127ddb9c899a21f631', 65, NULL, NULL);
INSERT INTO ledger_release VALUES ('k77', 'persons', NULL, 0, x'437679e93bf4fa1c3bb1d9a45e1ae25148aaca3b43422b84720dc99949048120', 66, NULL, NULL);
INSERT INTO ledger_release VALUES ('k78', 'persons', NULL, 0, x'df7991fef9c6a9469e121b43e83d63dd759d0ae163ae71a8a161eecd692ee643', 67, NULL, NULL);
INSERT INTO ledger_release VALUES ('k79', 'persons', NULL, 0, x'424697b368cd0c1d891970c2eb7e1aeb973024ddff2fd455e203e72332c79ba9', 68, NULL, NULL);
INSERT INTO ledger_release VALUES ('k80', 'persons', NULL, 0, x'e7d75510d67c6566290265a5bf0ed778a995221f44e8ca3b9f32ef4e0ff8998e', 69, NULL, NULL);
INSERT INTO ledger_release VALUES ('p1', 'plan', NULL, 0, x'88b5c6db7701c44443aca51bb5f69b640474358b68194eaeb4555a211b43aff1', 70, NULL, NULL);
INSERT INTO ledger_release VALUES ('p2', 'plan', NULL, 0, x'458c4df79d9401a142f1b3aeaac530aa54f9a6d0ee5d9bb76e3d94d7c54af350', 71, NULL, NULL);
INSERT INTO ledger_release VALUES ('p3', 'plan', NULL, 0, x'6eddbbac326e3ee707971c75e2772cedd49c8fe8ca6896f50f7356df9eb56d62', 72, NULL, NULL);
INSERT INTO ledger_release VALUES ('p4', 'plan', NULL, 0, x'5b2602a332b2acee2627c4356969d359c493a144e659a9258a1b39c9731ea3ef', 73, NULL, NULL);
INSERT INTO ledger_release VALUES ('p5', 'plan', NULL, 0, x'41d4bb25b04598519c80db54e08fb4b261c87bb06e8b131354408b0ebbf8341b', 74, NULL, NULL);
COMMIT;
