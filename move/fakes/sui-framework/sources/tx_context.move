module sui::tx_context;

/// The virtual machine reads the fields of a transaction natively; the struct only stands for them.
#[allow(unused_field)]
public struct TxContext has drop {
    sender: address,
    tx_hash: vector<u8>,
    epoch: u64,
    epoch_timestamp_ms: u64,
    ids_created: u64,
}

public fun sender(_self: &TxContext): address {
    native_sender()
}

public fun epoch(_self: &TxContext): u64 {
    native_epoch()
}

public fun fresh_object_address(_ctx: &mut TxContext): address {
    fresh_id()
}

native fun native_sender(): address;
native fun native_epoch(): u64;
native fun fresh_id(): address;

#[test_only]
const GAS_BUDGET: u64 = 1_000_000_000;

/// The gas price of the transaction. Sui does not use it in these tests, so it can identify the running test.
#[test_only]
public fun gas_price_for_testing(): u64 {
    native_gas_price()
}

/// Starts a transaction of a sender in an epoch. `number` distinguishes it from others of the test.
#[test_only]
public fun new_from_hint(
    sender: address,
    number: u64,
    epoch: u64,
    epoch_timestamp_ms: u64,
    ids_created: u64,
    gas_price: u64,
): TxContext {
    let mut tx_hash = std::bcs::to_bytes(&number);
    while (tx_hash.length() < 32) tx_hash.push_back(0);
    replace(sender, tx_hash, epoch, epoch_timestamp_ms, ids_created, gas_price, gas_price, GAS_BUDGET, vector[]);
    TxContext { sender, tx_hash, epoch, epoch_timestamp_ms, ids_created }
}

#[test_only]
native fun native_gas_price(): u64;

#[test_only]
native fun replace(
    sender: address,
    tx_hash: vector<u8>,
    epoch: u64,
    epoch_timestamp_ms: u64,
    ids_created: u64,
    reference_gas_price: u64,
    gas_price: u64,
    gas_budget: u64,
    sponsor: vector<address>,
);
