/// The compiler requires this module in every test.
#[test_only]
module std::unit_test;

/// Keeps test code off the chain: only the test's virtual machine has this function.
public native fun poison();
