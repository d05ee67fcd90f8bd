/// The compiler wants this module in every test.
#[test_only]
module std::unit_test;

/// Keeps code of tests off the chain: no machine but the test's has it.
public native fun poison();
