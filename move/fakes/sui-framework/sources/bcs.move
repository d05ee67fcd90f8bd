/// Reads values from the end of a reversed copy of their bytes.
module sui::bcs;

use sui::address;

public struct BCS has copy, drop, store { bytes: vector<u8> }

public fun to_bytes<T>(value: &T): vector<u8> {
    std::bcs::to_bytes(value)
}

public fun new(mut bytes: vector<u8>): BCS {
    bytes.reverse();
    BCS { bytes }
}

public fun peel_address(bcs: &mut BCS): address {
    let mut bytes = vector[];
    while (bytes.length() < 32) bytes.push_back(bcs.bytes.pop_back());
    address::from_bytes(bytes)
}

public fun peel_option_address(bcs: &mut BCS): Option<address> {
    if (bcs.bytes.pop_back() == 0) option::none() else option::some(bcs.peel_address())
}
