BEGIN;
-- A ledger of format 2 with something of everything: the statements and rows of the program that wrote it.
CREATE TABLE ledger_version (
        id BIGINT PRIMARY KEY CHECK (id = 1),
        version BIGINT NOT NULL
    );
CREATE TABLE ledger_entry (
        sequence BIGINT PRIMARY KEY CHECK (sequence > 0),
        previous BYTEA NOT NULL CHECK (length(previous) = 32),
        hash BYTEA NOT NULL CHECK (length(hash) = 32),
        account TEXT,
        body TEXT NOT NULL
    );
CREATE INDEX ledger_entry_account ON ledger_entry (account, sequence);
CREATE TABLE ledger_head (
        id BIGINT PRIMARY KEY CHECK (id = 1),
        sequence BIGINT NOT NULL,
        hash BYTEA NOT NULL CHECK (length(hash) = 32)
    );
CREATE TABLE ledger_account (
        name TEXT PRIMARY KEY,
        parent TEXT REFERENCES ledger_account (name),
        slot TEXT,
        opened BIGINT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        adjacency TEXT NOT NULL,
        records BIGINT NOT NULL CHECK (records > 0),
        part TEXT,
        rule TEXT NOT NULL,
        capacity_main TEXT COLLATE "C" NOT NULL,
        capacity_delta TEXT COLLATE "C" NOT NULL,
        capacity_pure TEXT COLLATE "C" ,
        spent_main TEXT COLLATE "C" NOT NULL,
        spent_delta TEXT COLLATE "C" NOT NULL,
        spent_pure TEXT COLLATE "C" ,
        charges BIGINT NOT NULL CHECK (charges >= 0),
        quotas BIGINT NOT NULL CHECK (quotas >= 0),
        closed BIGINT UNIQUE REFERENCES ledger_entry (sequence),
        CHECK ((spent_main <= capacity_main AND spent_delta <= capacity_delta)
            OR COALESCE(spent_pure <= capacity_pure, FALSE))
    );
CREATE TABLE ledger_slot (
        account TEXT NOT NULL REFERENCES ledger_account (name),
        name TEXT NOT NULL,
        total BIGINT NOT NULL CHECK (total > 0),
        used BIGINT NOT NULL CHECK (used >= 0 AND used <= total),
        release TEXT NOT NULL,
        PRIMARY KEY (account, name)
    );
CREATE TABLE ledger_quota (
        account TEXT NOT NULL REFERENCES ledger_account (name),
        analyst TEXT NOT NULL,
        capacity_main TEXT COLLATE "C" NOT NULL,
        capacity_delta TEXT COLLATE "C" NOT NULL,
        capacity_pure TEXT COLLATE "C" ,
        spent_main TEXT COLLATE "C" NOT NULL,
        spent_delta TEXT COLLATE "C" NOT NULL,
        spent_pure TEXT COLLATE "C" ,
        charges BIGINT NOT NULL CHECK (charges >= 0),
        PRIMARY KEY (account, analyst),
        CHECK ((spent_main <= capacity_main AND spent_delta <= capacity_delta)
            OR COALESCE(spent_pure <= capacity_pure, FALSE))
    );
CREATE TABLE ledger_release (
        key TEXT NOT NULL,
        account TEXT NOT NULL REFERENCES ledger_account (name),
        analyst TEXT,
        session BIGINT NOT NULL CHECK (session = 0 OR session = 1),
        request BYTEA NOT NULL CHECK (length(request) = 32),
        reserved BIGINT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        committed BIGINT UNIQUE REFERENCES ledger_entry (sequence),
        response BYTEA,
        PRIMARY KEY (key, account),
        CHECK ((committed IS NULL) = (response IS NULL)),
        CHECK (committed > reserved),
        CHECK (session = 0 OR committed IS NULL)
    );
CREATE TABLE ledger_session (
        key TEXT NOT NULL,
        account TEXT NOT NULL,
        begun BIGINT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        answered BIGINT NOT NULL CHECK (answered >= 0),
        ended BIGINT UNIQUE REFERENCES ledger_entry (sequence),
        declaration BYTEA NOT NULL,
        PRIMARY KEY (key, account),
        FOREIGN KEY (key, account) REFERENCES ledger_release (key, account),
        CHECK (ended > begun)
    );
CREATE TABLE ledger_answer (
        key TEXT NOT NULL,
        account TEXT NOT NULL,
        number BIGINT NOT NULL CHECK (number > 0),
        ask TEXT NOT NULL,
        question BYTEA NOT NULL CHECK (length(question) = 32),
        entry BIGINT NOT NULL UNIQUE REFERENCES ledger_entry (sequence),
        response BYTEA NOT NULL,
        PRIMARY KEY (key, account, number),
        UNIQUE (key, account, ask),
        FOREIGN KEY (key, account) REFERENCES ledger_session (key, account)
    );
CREATE TABLE ledger_state (
        key TEXT NOT NULL,
        account TEXT NOT NULL,
        state BYTEA NOT NULL,
        PRIMARY KEY (key, account),
        FOREIGN KEY (key, account) REFERENCES ledger_session (key, account)
    );
INSERT INTO ledger_version VALUES (1, 2);
INSERT INTO ledger_entry VALUES (1, '\x0000000000000000000000000000000000000000000000000000000000000000', '\xd8fe1d1214b26d4441b9e411ab4cc02f39e81d8acca92d429b9d1c98001ef020', NULL, '{"event":"init","at":1794964868,"format":2}');
INSERT INTO ledger_entry VALUES (2, '\xd8fe1d1214b26d4441b9e411ab4cc02f39e81d8acca92d429b9d1c98001ef020', '\x60d55dd9fa1873d975762b1e88332657c7ac9245d72fdbeccb0f00e0f907c7d1', 'd', '{"event":"dataset","at":1794964868,"name":"d","adjacency":"add-remove","records":1,"filter":{"kind":"sums","order":null,"promise":{"epsilon":"9","delta":"0.001"},"capacity":{"main":"9","delta":"0.001"}}}');
INSERT INTO ledger_entry VALUES (3, '\x60d55dd9fa1873d975762b1e88332657c7ac9245d72fdbeccb0f00e0f907c7d1', '\x1eed89b54667ceca2c0d4f2040bf593eadecf0418018a985dac1ad6ada411d91', 'e', '{"event":"dataset","at":1794964868,"name":"e","adjacency":"replace","records":1,"filter":{"kind":"zcdp","order":null,"promise":{"epsilon":"3","delta":"0.000001"},"capacity":{"main":"0.175749908689331861317206","delta":"0.0000005","pure":"3"}}}');
INSERT INTO ledger_entry VALUES (4, '\x1eed89b54667ceca2c0d4f2040bf593eadecf0418018a985dac1ad6ada411d91', '\x0fb37f02e0853eb1ee1d289daa9ae5e88fbaf8828051f2d058aad9466f1bf976', 'plan', '{"event":"open","at":1794964868,"account":"plan","parent":"d","rule":{"plan":{"epsilon":"1.099990207496835514788814","delta":"0.0000001","slots":[{"name":"ages","count":5,"release":{"count":"5","mechanism":"laplace","name":"ages","scale":"10"}},{"name":"pay","count":1,"release":{"epsilon":"0.5","mechanism":"approx-dp","name":"pay"}},{"name":"north","count":1,"release":{"epsilon":"0.1","mechanism":"approx-dp","name":"north","partition":"north"}}]}},"charge":{"main":"1.099990207496835514788814","delta":"0.0000001"}}');
INSERT INTO ledger_entry VALUES (5, '\x0fb37f02e0853eb1ee1d289daa9ae5e88fbaf8828051f2d058aad9466f1bf976', '\xc70bb82f57e992b6d78af233022613d6ddee8e51d7f17914856e943e2d4c5d77', 'sums', '{"event":"open","at":1794964868,"account":"sums","parent":"d","rule":{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"1","delta":"0.000001"},"capacity":{"main":"1","delta":"0.000001"}}},"charge":{"main":"1","delta":"0.000001"}}');
INSERT INTO ledger_entry VALUES (6, '\xc70bb82f57e992b6d78af233022613d6ddee8e51d7f17914856e943e2d4c5d77', '\xa9103ca748febf1418bc17e4769468312616eebc139a1a81e9cb0d3ccdd3e783', 'renyi', '{"event":"open","at":1794964868,"account":"renyi","parent":"d","rule":{"filter":{"kind":"renyi","order":"12.9654000000000007020162229309789836406707763671875","promise":{"epsilon":"2","delta":"0.000001"},"capacity":{"main":"1.081855248397562610078579","delta":"0.0000005","pure":"2"}}},"charge":{"main":"2","delta":"0.000001"}}');
INSERT INTO ledger_entry VALUES (7, '\xa9103ca748febf1418bc17e4769468312616eebc139a1a81e9cb0d3ccdd3e783', '\x721527a7046427b05921dbbdaedace1780b1feba556f20f5bdafeee1cbfe27f7', 'plan', '{"event":"recut","at":1794964868,"account":"plan","unused":[{"slot":"pay","count":1}],"into":[{"name":"small","count":2,"release":{"count":"2","epsilon":"0.1","mechanism":"approx-dp","name":"small"}}]}');
INSERT INTO ledger_entry VALUES (8, '\x721527a7046427b05921dbbdaedace1780b1feba556f20f5bdafeee1cbfe27f7', '\x6ffd438c652df7e498b94023934ad8a332e6cf9eb2889b6ba73e3c2b0c3d81ad', 'inner', '{"event":"open","at":1794964868,"account":"inner","parent":"plan","slot":"small","rule":{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"0.1","delta":"0"},"capacity":{"main":"0.1","delta":"0"}}},"charge":{"main":"1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (9, '\x6ffd438c652df7e498b94023934ad8a332e6cf9eb2889b6ba73e3c2b0c3d81ad', '\x5d6075c1240b5868f27a381200bbc6bba942997e54edb83152cbf1ed6d1021bc', 'part', '{"event":"open","at":1794964868,"account":"part","parent":"plan","slot":"north","part":"north","rule":{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"0.1","delta":"0"},"capacity":{"main":"0.1","delta":"0"}}},"charge":{"main":"1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (10, '\x5d6075c1240b5868f27a381200bbc6bba942997e54edb83152cbf1ed6d1021bc', '\x91fe60b7c351f648b9a0cb5dd687256d32175fa3be95094b8952f15d9b79dfa4', 'part', '{"event":"close","at":1794964868,"account":"part"}');
INSERT INTO ledger_entry VALUES (11, '\x91fe60b7c351f648b9a0cb5dd687256d32175fa3be95094b8952f15d9b79dfa4', '\x1f786ddda72b3df04ea60d2ccf859a2ccb6e3545d5bf86f930424a859e48453f', 'sums', '{"event":"quota","at":1794964868,"account":"sums","analyst":"ann","capacity":{"main":"0.5","delta":"0"}}');
INSERT INTO ledger_entry VALUES (12, '\x1f786ddda72b3df04ea60d2ccf859a2ccb6e3545d5bf86f930424a859e48453f', '\xf1135eb2e67901c4003e090d1a0b1e24454fdb74c4bef3aea83fea643555515c', 'sums', '{"event":"quota","at":1794964868,"account":"sums","analyst":"bob","capacity":{"main":"0.6","delta":"0.0000006"}}');
INSERT INTO ledger_entry VALUES (13, '\xf1135eb2e67901c4003e090d1a0b1e24454fdb74c4bef3aea83fea643555515c', '\xf0fcf49a0327a0d313a78a34676d906006a25b2b03699ab06c62d91ded469530', 'plan', '{"event":"reserve","at":1794964868,"account":"plan","key":"plan-all-first","analyst":null,"release":{"slot":{"name":"ages","count":2}},"charge":{"main":"2","delta":"0"}}');
INSERT INTO ledger_entry VALUES (14, '\xf0fcf49a0327a0d313a78a34676d906006a25b2b03699ab06c62d91ded469530', '\xaa5c9900265e47b960e666fb44410cf044753879a0420720fd929dac5b828e6d', 'plan', '{"event":"commit","at":1794964868,"account":"plan","key":"plan-all-first","sha256":"0b84a554f67aa0ec482d3438381a26e2ee8d93c0d141c6bb8d3ee3863bcb699e","length":42}');
INSERT INTO ledger_entry VALUES (15, '\xaa5c9900265e47b960e666fb44410cf044753879a0420720fd929dac5b828e6d', '\xbe44cfc18712fd64a20073eecebd770f10b646914a4b59a359ce468d9c892d49', 'inner', '{"event":"reserve","at":1794964869,"account":"inner","key":"inner-all-first","analyst":null,"release":{"described":[{"epsilon":"0.01","mechanism":"approx-dp"}]},"charge":{"main":"0.01","delta":"0"}}');
INSERT INTO ledger_entry VALUES (16, '\xbe44cfc18712fd64a20073eecebd770f10b646914a4b59a359ce468d9c892d49', '\xa5d1b11137e4aa7f333f3459cf9e50b807c19314a7861ffe087088d872b061d6', 'inner', '{"event":"commit","at":1794964869,"account":"inner","key":"inner-all-first","sha256":"a9070fa2bf444e576ed301627a994e4240deff98dd681a5aeccbbb82acba5cb6","length":45}');
INSERT INTO ledger_entry VALUES (17, '\xa5d1b11137e4aa7f333f3459cf9e50b807c19314a7861ffe087088d872b061d6', '\xfbdc14cc9c7991712f8015656a525e8a7fb876d0aba374946ce6fc98f1283f62', 'sums', '{"event":"reserve","at":1794964869,"account":"sums","key":"sums-ann-first","analyst":"ann","release":{"described":[{"epsilon":"0.1","mechanism":"approx-dp"}]},"charge":{"main":"0.1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (18, '\xfbdc14cc9c7991712f8015656a525e8a7fb876d0aba374946ce6fc98f1283f62', '\xf884eea1a7033a7ac2510eba6c54f4ac816b083fcc2fbf770407cbae37eaff7b', 'sums', '{"event":"commit","at":1794964869,"account":"sums","key":"sums-ann-first","sha256":"bda4f7d7713cb440149fe4b4e1abff2080935147fbfc9245b1c82c48f054ae8b","length":42}');
INSERT INTO ledger_entry VALUES (19, '\xf884eea1a7033a7ac2510eba6c54f4ac816b083fcc2fbf770407cbae37eaff7b', '\x4fd19f61ab4e6091f5d771099613f042fc6ea68fc07367af25f40d53208be5de', 'sums', '{"event":"reserve","at":1794964869,"account":"sums","key":"sums-bob-first","analyst":"bob","release":{"described":[{"epsilon":"0.1","mechanism":"approx-dp"}]},"charge":{"main":"0.1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (20, '\x4fd19f61ab4e6091f5d771099613f042fc6ea68fc07367af25f40d53208be5de', '\x1246eed6394139475e5a68ca0c735eee7b6488f2fa41e38ad849bedd77445e35', 'sums', '{"event":"commit","at":1794964869,"account":"sums","key":"sums-bob-first","sha256":"023ac49e2260cfe43e10984ce3fb52574742af8b414503eccb3e6a757f5c0138","length":42}');
INSERT INTO ledger_entry VALUES (21, '\x1246eed6394139475e5a68ca0c735eee7b6488f2fa41e38ad849bedd77445e35', '\xaa664fd396c0a722863960435a6eec87e0e57c57ced7ffcf2f66990428473b60', 'renyi', '{"event":"reserve","at":1794964869,"account":"renyi","key":"renyi-all-first","analyst":null,"release":{"described":[{"mechanism":"gaussian","sigma":"40"}]},"charge":{"main":"0.004051687500000000219381","delta":"0"}}');
INSERT INTO ledger_entry VALUES (22, '\xaa664fd396c0a722863960435a6eec87e0e57c57ced7ffcf2f66990428473b60', '\x7c38d68d65c19400089aabfee209a429ca855d9e4c1101ef0d5f289cb7a69898', 'renyi', '{"event":"reserve","at":1794964869,"account":"renyi","key":"session-first","analyst":null,"session":true,"release":{"described":[{"epsilon":"0.1","mechanism":"approx-dp"}]},"charge":{"main":"0.052782163122023650607477","delta":"0","pure":"0.1"}}');
INSERT INTO ledger_entry VALUES (23, '\x7c38d68d65c19400089aabfee209a429ca855d9e4c1101ef0d5f289cb7a69898', '\x9328a5fc24f797079cfeabf0ebf8639b8eed4ac4c9cad0807fad4367dd1b6030', 'renyi', '{"event":"begin","at":1794964869,"account":"renyi","key":"session-first","declaration":"0f53133ce57ca8e8937bb4b1c15a33ef9594704e1c11abd58e598bb8362f7385","state":"2432dbb70926df292595fa1c2dee4933cf81130572a2e29a27256d3bdb8e07e5"}');
INSERT INTO ledger_entry VALUES (24, '\x9328a5fc24f797079cfeabf0ebf8639b8eed4ac4c9cad0807fad4367dd1b6030', '\x8ee3114ce3951fa6f5195bf51d30839b611c020f2f6d22616b62620add0490f7', 'renyi', '{"event":"answer","at":1794964869,"account":"renyi","key":"session-first","ask":"one","number":1,"question":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","sha256":"c8cf29c842e5b8be99219eaa0a49858d23f17b0bec7c3914c9125c5c381cfeca","length":9,"state":"2c34ce1df23b838c5abf2a7f6437cca3d3067ed509ff25f11df6b11b582b51eb"}');
INSERT INTO ledger_entry VALUES (25, '\x8ee3114ce3951fa6f5195bf51d30839b611c020f2f6d22616b62620add0490f7', '\x7ca3d6a1be5a39713766fc0974693fdad5d668ab43e0d96ef1a87678f8c32664', 'renyi', '{"event":"answer","at":1794964869,"account":"renyi","key":"session-first","ask":"two","number":2,"question":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","sha256":"b519c534eb3ca0325d4cd7296b64b076f4a388ea378b700bdba54c1960e2ceeb","length":9,"state":null}');
INSERT INTO ledger_entry VALUES (26, '\x7ca3d6a1be5a39713766fc0974693fdad5d668ab43e0d96ef1a87678f8c32664', '\xc49485886ee1e84afeb27e5875b349a0c3e75a1d22910b69231ef1cec2d928be', 'plan', '{"event":"reserve","at":1794964869,"account":"plan","key":"plan-all-second","analyst":null,"release":{"slot":{"name":"ages","count":2}},"charge":{"main":"2","delta":"0"}}');
INSERT INTO ledger_entry VALUES (27, '\xc49485886ee1e84afeb27e5875b349a0c3e75a1d22910b69231ef1cec2d928be', '\x13df5641a669f16c4c10ab7a905e00ec9087160217a9c4c025c3c1dba0e8560d', 'plan', '{"event":"commit","at":1794964869,"account":"plan","key":"plan-all-second","sha256":"231a56c5ca7ed4e7be7eb8fd2b75bb47cce3a5f82481b3fe6a36a88c38a34298","length":45}');
INSERT INTO ledger_entry VALUES (28, '\x13df5641a669f16c4c10ab7a905e00ec9087160217a9c4c025c3c1dba0e8560d', '\x2830e5c102689666677213a886cb1f531c3f07682ec88649b77590e90c0f129f', 'inner', '{"event":"reserve","at":1794964869,"account":"inner","key":"inner-all-second","analyst":null,"release":{"described":[{"epsilon":"0.01","mechanism":"approx-dp"}]},"charge":{"main":"0.01","delta":"0"}}');
INSERT INTO ledger_entry VALUES (29, '\x2830e5c102689666677213a886cb1f531c3f07682ec88649b77590e90c0f129f', '\x6b9d9ba4b62222bdad26070816045b88889d809689bce85fb044831e2f1aaf07', 'inner', '{"event":"commit","at":1794964869,"account":"inner","key":"inner-all-second","sha256":"b6882e773fffed4efb160c86919eda883a8fcc42e3a8a8babae1cbcf873ca325","length":48}');
INSERT INTO ledger_entry VALUES (30, '\x6b9d9ba4b62222bdad26070816045b88889d809689bce85fb044831e2f1aaf07', '\xd77c8389c3ac8c85cda68fed20d5254298bf7fb6fd14fe0e7cac4d851e67dc6d', 'sums', '{"event":"reserve","at":1794964869,"account":"sums","key":"sums-ann-second","analyst":"ann","release":{"described":[{"epsilon":"0.1","mechanism":"approx-dp"}]},"charge":{"main":"0.1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (31, '\xd77c8389c3ac8c85cda68fed20d5254298bf7fb6fd14fe0e7cac4d851e67dc6d', '\x883546fad2019cbdd2dda9ed7139f2518802a74a35bf129678a66f8bab5a5c32', 'sums', '{"event":"commit","at":1794964869,"account":"sums","key":"sums-ann-second","sha256":"11498fc5c2c2b82572ae5c4eaeb657dcbd5926f491b4857eac02701525fca654","length":45}');
INSERT INTO ledger_entry VALUES (32, '\x883546fad2019cbdd2dda9ed7139f2518802a74a35bf129678a66f8bab5a5c32', '\xdc576aacd906043386d0ee5d86e4118b82b9b78e04253a2bd324af4b46e2fd93', 'sums', '{"event":"reserve","at":1794964869,"account":"sums","key":"sums-bob-second","analyst":"bob","release":{"described":[{"epsilon":"0.1","mechanism":"approx-dp"}]},"charge":{"main":"0.1","delta":"0"}}');
INSERT INTO ledger_entry VALUES (33, '\xdc576aacd906043386d0ee5d86e4118b82b9b78e04253a2bd324af4b46e2fd93', '\x24488f42780e96e4473cb281c7f63a5c624c04717c42690f4f0c0afeb390a320', 'sums', '{"event":"commit","at":1794964869,"account":"sums","key":"sums-bob-second","sha256":"cd07b3ef90d82b9049efb5f18761dc5225a3c8436456d5e39af7f43565fa56a4","length":45}');
INSERT INTO ledger_entry VALUES (34, '\x24488f42780e96e4473cb281c7f63a5c624c04717c42690f4f0c0afeb390a320', '\x8c7e3aac9a6d0f64736b56ce33fbb5478c8454759c76747500ccd0c50dfda1c5', 'renyi', '{"event":"reserve","at":1794964869,"account":"renyi","key":"renyi-all-second","analyst":null,"release":{"described":[{"mechanism":"gaussian","sigma":"40"}]},"charge":{"main":"0.004051687500000000219381","delta":"0"}}');
INSERT INTO ledger_entry VALUES (35, '\x8c7e3aac9a6d0f64736b56ce33fbb5478c8454759c76747500ccd0c50dfda1c5', '\x65f30475b1343a1922f01336afa339dc1962fe6bb49ef0531b0b043526805ffb', 'renyi', '{"event":"reserve","at":1794964869,"account":"renyi","key":"session-second","analyst":null,"session":true,"release":{"described":[{"epsilon":"0.1","mechanism":"approx-dp"}]},"charge":{"main":"0.052782163122023650607477","delta":"0","pure":"0.1"}}');
INSERT INTO ledger_entry VALUES (36, '\x65f30475b1343a1922f01336afa339dc1962fe6bb49ef0531b0b043526805ffb', '\xd1928254b511865f97d1e6522660216910433d7553a5b88bb2e59f8f7838c306', 'renyi', '{"event":"begin","at":1794964869,"account":"renyi","key":"session-second","declaration":"0f53133ce57ca8e8937bb4b1c15a33ef9594704e1c11abd58e598bb8362f7385","state":"2432dbb70926df292595fa1c2dee4933cf81130572a2e29a27256d3bdb8e07e5"}');
INSERT INTO ledger_entry VALUES (37, '\xd1928254b511865f97d1e6522660216910433d7553a5b88bb2e59f8f7838c306', '\xbb228d3d4285b018cd41c4c71d624e868076d433dd1386aca55c7e499022cec1', 'renyi', '{"event":"answer","at":1794964869,"account":"renyi","key":"session-second","ask":"one","number":1,"question":"7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed","sha256":"98eb557821f6deb8806e752e04e896f591708a69bf1cecbeb473afcab33d25ef","length":10,"state":"2c34ce1df23b838c5abf2a7f6437cca3d3067ed509ff25f11df6b11b582b51eb"}');
INSERT INTO ledger_entry VALUES (38, '\xbb228d3d4285b018cd41c4c71d624e868076d433dd1386aca55c7e499022cec1', '\xfb09b9d81f2da50b163f0e9704522d52d157bf98242fbe4a1d43f8135f616dfc', 'renyi', '{"event":"answer","at":1794964869,"account":"renyi","key":"session-second","ask":"two","number":2,"question":"3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3","sha256":"bef1e06524403e2555818c660cef5106f50cbd74284fb742c92bf05cb110c954","length":10,"state":"2432dbb70926df292595fa1c2dee4933cf81130572a2e29a27256d3bdb8e07e5"}');
INSERT INTO ledger_head VALUES (1, 38, '\xfb09b9d81f2da50b163f0e9704522d52d157bf98242fbe4a1d43f8135f616dfc');
INSERT INTO ledger_account VALUES ('d', NULL, NULL, 2, 'add-remove', 1, NULL, '{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"9","delta":"0.001"},"capacity":{"main":"9","delta":"0.001"}}}', '0000000000000000000000000000000000000009', '0000000000000000000000000000000000000000.001', NULL, '0000000000000000000000000000000000000004.099990207496835514788814', '0000000000000000000000000000000000000000.0000021', NULL, 3, 0, NULL);
INSERT INTO ledger_account VALUES ('e', NULL, NULL, 3, 'replace', 1, NULL, '{"filter":{"kind":"zcdp","order":null,"promise":{"epsilon":"3","delta":"0.000001"},"capacity":{"main":"0.175749908689331861317206","delta":"0.0000005","pure":"3"}}}', '0000000000000000000000000000000000000000.175749908689331861317206', '0000000000000000000000000000000000000000.0000005', '0000000000000000000000000000000000000003', '0000000000000000000000000000000000000000', '0000000000000000000000000000000000000000', '0000000000000000000000000000000000000000', 0, 0, NULL);
INSERT INTO ledger_account VALUES ('plan', 'd', NULL, 4, 'add-remove', 1, NULL, '{"plan":{"epsilon":"1.099990207496835514788814","delta":"0.0000001","slots":[]}}', '0000000000000000000000000000000000000009', '0000000000000000000000000000000000000000', NULL, '0000000000000000000000000000000000000007', '0000000000000000000000000000000000000000', NULL, 4, 0, NULL);
INSERT INTO ledger_account VALUES ('sums', 'd', NULL, 5, 'add-remove', 1, NULL, '{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"1","delta":"0.000001"},"capacity":{"main":"1","delta":"0.000001"}}}', '0000000000000000000000000000000000000001', '0000000000000000000000000000000000000000.000001', NULL, '0000000000000000000000000000000000000000.4', '0000000000000000000000000000000000000000', NULL, 4, 2, NULL);
INSERT INTO ledger_account VALUES ('renyi', 'd', NULL, 6, 'add-remove', 1, NULL, '{"filter":{"kind":"renyi","order":"12.9654000000000007020162229309789836406707763671875","promise":{"epsilon":"2","delta":"0.000001"},"capacity":{"main":"1.081855248397562610078579","delta":"0.0000005","pure":"2"}}}', '0000000000000000000000000000000000000001.081855248397562610078579', '0000000000000000000000000000000000000000.0000005', '0000000000000000000000000000000000000002', '0000000000000000000000000000000000000000.113667701244047301653716', '0000000000000000000000000000000000000000', NULL, 4, 0, NULL);
INSERT INTO ledger_account VALUES ('inner', 'plan', 'small', 8, 'add-remove', 1, NULL, '{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"0.1","delta":"0"},"capacity":{"main":"0.1","delta":"0"}}}', '0000000000000000000000000000000000000000.1', '0000000000000000000000000000000000000000', NULL, '0000000000000000000000000000000000000000.02', '0000000000000000000000000000000000000000', NULL, 2, 0, NULL);
INSERT INTO ledger_account VALUES ('part', 'plan', 'north', 9, 'add-remove', 1, 'north', '{"filter":{"kind":"sums","order":null,"promise":{"epsilon":"0.1","delta":"0"},"capacity":{"main":"0.1","delta":"0"}}}', '0000000000000000000000000000000000000000.1', '0000000000000000000000000000000000000000', NULL, '0000000000000000000000000000000000000000', '0000000000000000000000000000000000000000', NULL, 0, 0, 10);
INSERT INTO ledger_slot VALUES ('plan', 'ages', 5, 4, '{"count":"5","mechanism":"laplace","name":"ages","scale":"10"}');
INSERT INTO ledger_slot VALUES ('plan', 'pay', 1, 1, '{"epsilon":"0.5","mechanism":"approx-dp","name":"pay"}');
INSERT INTO ledger_slot VALUES ('plan', 'north', 1, 1, '{"epsilon":"0.1","mechanism":"approx-dp","name":"north","partition":"north"}');
INSERT INTO ledger_slot VALUES ('plan', 'small', 2, 1, '{"count":"2","epsilon":"0.1","mechanism":"approx-dp","name":"small"}');
INSERT INTO ledger_quota VALUES ('sums', 'ann', '0000000000000000000000000000000000000000.5', '0000000000000000000000000000000000000000', NULL, '0000000000000000000000000000000000000000.2', '0000000000000000000000000000000000000000', NULL, 2);
INSERT INTO ledger_quota VALUES ('sums', 'bob', '0000000000000000000000000000000000000000.6', '0000000000000000000000000000000000000000.0000006', NULL, '0000000000000000000000000000000000000000.2', '0000000000000000000000000000000000000000', NULL, 2);
INSERT INTO ledger_release VALUES ('plan-all-first', 'plan', NULL, 0, '\xa40f745c1b231dc0730ad1c98aedcf6b4e1da2d4d56d27826ab495bafec8e026', 13, 14, '\x706c616e2d616c6c2d6669727374706c616e2d616c6c2d6669727374706c616e2d616c6c2d6669727374');
INSERT INTO ledger_release VALUES ('inner-all-first', 'inner', NULL, 0, '\x5fd2e4bdce8fa03c01055ba180dc749227ca0d82016c6f42642b22cbf6423e4c', 15, 16, '\x696e6e65722d616c6c2d6669727374696e6e65722d616c6c2d6669727374696e6e65722d616c6c2d6669727374');
INSERT INTO ledger_release VALUES ('sums-ann-first', 'sums', 'ann', 0, '\xfa68d6dbeee8b9b0cba49d2455e2eccea8c2d56098b15919973bacc9de427168', 17, 18, '\x73756d732d616e6e2d666972737473756d732d616e6e2d666972737473756d732d616e6e2d6669727374');
INSERT INTO ledger_release VALUES ('sums-bob-first', 'sums', 'bob', 0, '\x23ce67dea2899fdf09291b3ab9fca26d1e1329b9c9a68e4470b798011d11c360', 19, 20, '\x73756d732d626f622d666972737473756d732d626f622d666972737473756d732d626f622d6669727374');
INSERT INTO ledger_release VALUES ('renyi-all-first', 'renyi', NULL, 0, '\x5564df8ca37feffc8f59d7c474cdb1a48e0c9fe5ebb6e44028c89e759d0a2eee', 21, NULL, NULL);
INSERT INTO ledger_release VALUES ('session-first', 'renyi', NULL, 1, '\x614987d90105189d864060a8f378b4a1e75feea75b41bb749ee54f7e48a15065', 22, NULL, NULL);
INSERT INTO ledger_release VALUES ('plan-all-second', 'plan', NULL, 0, '\x40f5f5d2ff733ee1225c3d3567015061267e7ee9da1327262282d1e91a5ffe39', 26, 27, '\x706c616e2d616c6c2d7365636f6e64706c616e2d616c6c2d7365636f6e64706c616e2d616c6c2d7365636f6e64');
INSERT INTO ledger_release VALUES ('inner-all-second', 'inner', NULL, 0, '\xa0fe49e5cbe029f0509ea1ab5e36d8580bd78d785470c917ce5252f7a661082a', 28, 29, '\x696e6e65722d616c6c2d7365636f6e64696e6e65722d616c6c2d7365636f6e64696e6e65722d616c6c2d7365636f6e64');
INSERT INTO ledger_release VALUES ('sums-ann-second', 'sums', 'ann', 0, '\x9f9a05baf074f89de69d8cef512ca55dca76b55fe4860e6b921e7aecf37ec077', 30, 31, '\x73756d732d616e6e2d7365636f6e6473756d732d616e6e2d7365636f6e6473756d732d616e6e2d7365636f6e64');
INSERT INTO ledger_release VALUES ('sums-bob-second', 'sums', 'bob', 0, '\x13f58982af875f0aad2887cf4d3eaf6b9b7dddc06f58bbf985284023376926b6', 32, 33, '\x73756d732d626f622d7365636f6e6473756d732d626f622d7365636f6e6473756d732d626f622d7365636f6e64');
INSERT INTO ledger_release VALUES ('renyi-all-second', 'renyi', NULL, 0, '\xae697afdb40af33e45517ecac007d9725e059dcf3bbf583ef9eba73215c0d2bf', 34, NULL, NULL);
INSERT INTO ledger_release VALUES ('session-second', 'renyi', NULL, 1, '\x0a66b2eb6a91b5628abec91bf897737d01316d19643b7d72a3d990425556053e', 35, NULL, NULL);
INSERT INTO ledger_session VALUES ('session-first', 'renyi', 23, 2, 25, '\x746f79');
INSERT INTO ledger_session VALUES ('session-second', 'renyi', 36, 2, NULL, '\x746f79');
INSERT INTO ledger_answer VALUES ('session-first', 'renyi', 1, 'one', '\x7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed', 24, '\x6f6e65206669727374');
INSERT INTO ledger_answer VALUES ('session-first', 'renyi', 2, 'two', '\x3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3', 25, '\x74776f206669727374');
INSERT INTO ledger_answer VALUES ('session-second', 'renyi', 1, 'one', '\x7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed', 37, '\x6f6e65207365636f6e64');
INSERT INTO ledger_answer VALUES ('session-second', 'renyi', 2, 'two', '\x3fc4ccfe745870e2c0d99f71f30ff0656c8dedd41cc1d7d3d376b0dbe685e2f3', 38, '\x74776f207365636f6e64');
INSERT INTO ledger_state VALUES ('session-second', 'renyi', '\x01010101010101010101010101010101010101010101010101010101010101010101010101010101');
CREATE FUNCTION ledger_entry_guard() RETURNS trigger LANGUAGE plpgsql AS
                'BEGIN RAISE EXCEPTION ''entries are never changed or deleted''; END';
CREATE TRIGGER ledger_entry_guard BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entry
                EXECUTE FUNCTION ledger_entry_guard();
COMMIT;
