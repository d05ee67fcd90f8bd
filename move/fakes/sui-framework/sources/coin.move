module sui::coin;

use sui::balance::Balance;

public struct Coin<phantom T> has key, store { id: UID, balance: Balance<T> }

public fun value<T>(self: &Coin<T>): u64 {
    self.balance.value()
}

public fun into_balance<T>(coin: Coin<T>): Balance<T> {
    let Coin { id, balance } = coin;
    id.delete();
    balance
}

public fun from_balance<T>(balance: Balance<T>, ctx: &mut TxContext): Coin<T> {
    Coin { id: object::new(ctx), balance }
}

public fun split<T>(self: &mut Coin<T>, amount: u64, ctx: &mut TxContext): Coin<T> {
    self.balance.split(amount).into_coin(ctx)
}

#[test_only]
public fun mint_for_testing<T>(value: u64, ctx: &mut TxContext): Coin<T> {
    sui::balance::create_for_testing(value).into_coin(ctx)
}
