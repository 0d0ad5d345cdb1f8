use super::*;

fn amount(text: &str) -> Amount {
    text.parse().unwrap()
}

#[test]
fn decimals_add_up_exactly() {
    assert_eq!(&amount("0.1") + &amount("0.2"), amount("0.30"));
    assert_ne!(&Amount::from_f64(0.1).unwrap() + &Amount::from_f64(0.2).unwrap(), amount("0.3"));
    assert_eq!(amount("1e-300").times(3).to_string(), format!("0.{}3", "0".repeat(299)));
    assert_eq!(amount("0.3").checked_sub(&amount("0.1")), Some(amount("0.2")));
    assert_eq!(amount("0.1").checked_sub(&amount("0.3")), None);
    assert_eq!(&amount("1.5") * &amount("0.02"), amount("0.03"));
    assert_eq!(amount("2.5E3"), Amount::from(2500));
    assert_eq!(amount("3e2").to_string(), "300");
}

#[test]
fn doubles_are_read_and_written_exactly() {
    // The decimal expansion of the double 0.1 is well known.
    let tenth = "0.1000000000000000055511151231257827021181583404541015625";
    assert_eq!(Amount::from_f64(0.1).unwrap(), amount(tenth));
    for value in [0.0, 1.0, 0.1, 1e-300, 5e-324, 2.2e-308, 123456.789, 1e22, f64::MAX] {
        let exact = Amount::from_f64(value).unwrap();
        let (lower, upper) = (exact.lower(), exact.upper());
        assert!(lower <= value && value <= upper, "{value:e}: {lower:e} {upper:e}");
        let one = if value > 1e-300 { lower } else { upper };
        assert!(one.to_bits().abs_diff(value.to_bits()) <= 1, "{value:e}");
        if value > 1e-300 && value < 1e200 {
            assert!(lower.to_bits() == value.to_bits() && upper.to_bits() == value.to_bits());
        }
    }
    let third = amount("0.333333333333333333333333333333333333333");
    assert!(third.lower() < third.upper() && third.upper() - third.lower() < 1e-16);
}

#[test]
fn many_bits_lie_on_the_side_asked_for() {
    for text in ["0.1", "0.3", "7", "1e-30", "123456.789012345678901234567890123456789"] {
        let exact = amount(text);
        let [low, high] = [false, true].map(|up| Amount::from_dd(exact.to_dd(up)).unwrap());
        assert!(low <= exact && exact <= high, "{text}");
        let width = high.checked_sub(&low).unwrap();
        assert!(width.upper() <= exact.upper() * 2.0_f64.powi(-104), "{text}");
    }
}

#[test]
fn rounding_to_places_is_outward() {
    assert_eq!(amount("0.12345").floor(3), amount("0.123"));
    assert_eq!(amount("0.12345").ceil(3), amount("0.124"));
    assert_eq!(amount("0.12").ceil(3), amount("0.12"));
    assert_eq!(amount("1").div_up(&amount("10")), Some(amount("0.1")));
    let third = amount("1").div_up(&amount("3")).unwrap();
    assert_eq!(third, amount("0.333333333333333333333334"));
    assert_eq!(amount("1").div_up(&Amount::ZERO), None);
}

#[test]
fn what_is_no_number_is_refused() {
    let bad = [
        "",
        ".",
        "1.",
        ".5",
        "-1",
        "+1",
        "1e",
        "e5",
        "1e+-3",
        "nan",
        "inf",
        "0x10",
        "1_000",
        " 1",
        "1 ",
        "1e40",
        "10000000000000000000000000000000000000000.0",
        "0.1e41",
        "1e41",
        "1e-2501",
        "1e99999999",
        "１",
    ];
    for text in bad {
        let error = text.parse::<Amount>().unwrap_err();
        assert!(error.to_string().contains("legal: a decimal number"), "{text:?}");
    }
    for most in ["9.999e39", "0.9999e40", "9999999999999999999999999999999999999999.9", "00001e39"]
    {
        assert!(most.parse::<Amount>().is_ok(), "{most}");
    }
    assert!("1".repeat(10_000).parse::<Amount>().is_err());
    assert!("0e-100000".parse::<Amount>().is_ok_and(|zero| zero.is_zero()));
}

#[test]
fn the_order_is_that_of_the_numbers() {
    let list = ["0", "1e-300", "0.0999", "0.1", "0.10000001", "1", "1.5", "10"].map(amount);
    assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
}
