//! Keys, certificates and passwords. Go reads and verifies what these functions make; here are texts that Go made.

use super::rendered;
use crate::{Session, Settings};

fn seeded(text: &str, seed: u64) -> String {
    let settings = Settings { seed: Some(seed), ..Settings::helm() };
    let output = super::helm(text).render("t", &super::values(), &mut Session::new(settings));
    output.expect("output").into_text().expect("UTF-8")
}

#[test]
fn a_seed_repeats_keys_certificates_and_hashes() {
    let text = "{{ $ca := genCA \"ca\" 1 }}{{ $c := genSignedCert \"svc\" (list \"10.0.0.1\") (list \"svc.ns\") 1 $ca }}\
                {{ $ca.Cert }}{{ $c.Cert }}{{ $c.Key }}{{ genPrivateKey \"ecdsa\" }}{{ genPrivateKey \"ed25519\" }}\
                {{ htpasswd \"u\" \"p\" }}{{ encryptAES \"k\" \"text\" }}";
    let output = seeded(text, 1);
    assert_eq!(output, seeded(text, 1));
    for tag in ["CERTIFICATE", "RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY"] {
        assert!(output.contains(&format!("-----BEGIN {tag}-----\n")), "{tag}: {output}");
    }
    assert_ne!(seeded("{{ genPrivateKey \"ed25519\" }}", 1), seeded("{{ genPrivateKey \"ed25519\" }}", 2));
}

#[test]
fn an_encrypted_text_of_go_is_decrypted() {
    let sealed = "emjXGc1OdxYSRM2GIvKGjiFBMq9ScVdMZsSebfo5QMg=";
    assert_eq!(rendered(&format!("{{{{ decryptAES \"pw\" \"{sealed}\" }}}}")), "from go");
    assert_eq!(rendered("{{ encryptAES \"pw\" \"a text\" | decryptAES \"pw\" }}"), "a text");
}

#[test]
fn derived_passwords_equal_those_of_go() {
    let text = "{{ derivePassword 1 \"long\" \"password\" \"user\" \"example.com\" }} {{ derivePassword 7 \"maximum\" \"p\" \"u\" \"s\" }}";
    assert_eq!(rendered(text), "ZedaFaxcZaso9* V8~0p(0Z23kCYEjNLEMD");
}

#[test]
fn a_key_of_the_chart_is_used_and_kept() {
    let text = "{{ $key := genPrivateKey \"ecdsa\" }}{{ $ca := genCAWithKey \"ca\" 1 $key }}{{ eq $ca.Key $key }} \
                {{ (buildCustomCert (b64enc $ca.Cert) (b64enc $key)).Cert | eq $ca.Cert }}";
    assert_eq!(rendered(text), "true true");
}

#[test]
fn certificate_errors_are_reported() {
    let message = |text: &str| super::output(text, Settings::helm()).expect_err("an error").to_string();
    for (text, expected) in [
        ("{{ genCAWithKey \"ca\" 1 \"x\" }}", "parsing private key: no PEM data in input"),
        ("{{ buildCustomCert \"!\" \"\" }}", "unable to decode base64 certificate"),
        ("{{ buildCustomCert \"YQ==\" \"\" }}", "unable to decode certificate"),
        (
            "{{ genSelfSignedCertWithKey \"x\" (list \"nowhere\") nil 1 (genPrivateKey \"ed25519\") }}",
            "error parsing ip: nowhere",
        ),
        ("{{ genCA \"x\" \"y\" }}", "expected integer; found \"y\""),
    ] {
        let found = message(text);
        assert!(found.ends_with(expected), "{found}");
    }
}
