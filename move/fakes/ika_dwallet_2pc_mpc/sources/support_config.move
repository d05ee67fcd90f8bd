/// The fake supports the curves 0 and 2, each with the algorithm 0 and the hash 0; curve 0 also has algorithm 1.
module ika_dwallet_2pc_mpc::support_config;

const EInvalidHashScheme: u64 = 1;
const EInvalidCurve: u64 = 2;
const EInvalidSignatureAlgorithm: u64 = 3;
const ECurvePaused: u64 = 4;

public struct SupportConfig has drop, store { paused_curves: vector<u32> }

public(package) fun create(): SupportConfig {
    SupportConfig { paused_curves: vector[] }
}

public(package) fun validate_curve(self: &SupportConfig, curve: u32) {
    assert!(curve == 0 || curve == 2, EInvalidCurve);
    assert!(!self.paused_curves.contains(&curve), ECurvePaused);
}

public(package) fun validate_algorithm(self: &SupportConfig, curve: u32, algorithm: u32) {
    self.validate_curve(curve);
    assert!(algorithm == 0 || (curve == 0 && algorithm == 1), EInvalidSignatureAlgorithm);
}

public(package) fun validate_hash(self: &SupportConfig, curve: u32, algorithm: u32, hash_scheme: u32) {
    self.validate_algorithm(curve, algorithm);
    assert!(hash_scheme == 0, EInvalidHashScheme);
}

#[test_only]
public(package) fun set_paused_curves(self: &mut SupportConfig, paused_curves: vector<u32>) {
    self.paused_curves = paused_curves;
}
