module sui::balance;

public use fun sui::coin::from_balance as Balance.into_coin;

const ENotEnough: u64 = 2;

public struct Balance<phantom T> has store { value: u64 }

public fun value<T>(self: &Balance<T>): u64 {
    self.value
}

public fun zero<T>(): Balance<T> {
    Balance { value: 0 }
}

public fun join<T>(self: &mut Balance<T>, balance: Balance<T>): u64 {
    let Balance { value } = balance;
    self.value = self.value + value;
    self.value
}

public fun split<T>(self: &mut Balance<T>, value: u64): Balance<T> {
    assert!(self.value >= value, ENotEnough);
    self.value = self.value - value;
    Balance { value }
}

#[test_only]
public fun create_for_testing<T>(value: u64): Balance<T> {
    Balance { value }
}
