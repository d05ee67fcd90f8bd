/// The operators that may spend from the Treasury, with their expiry and their limits per epoch. A stolen operator key
/// can spend no more than the rest of each epoch's limits, until the administrator revokes the operator.
module treasury::operators;

use sui::event;

/// The numbers of the operations in the ceilings and in the limits.
const OP_DKG: u8 = 0;
const OP_PRESIGN: u8 = 1;

/// The maximum number of operators, because every payment reads them all. A service has fewer lanes.
const MAX_OPERATORS: u64 = 64;

/// The OperatorCap is not, or no longer, authorised by this Treasury.
const EUnknownOperator: u64 = 1;
/// The sender is not the address that may use the OperatorCap.
const EWrongHolder: u64 = 2;
/// The last epoch of the OperatorCap has passed.
const EExpired: u64 = 3;
/// The payment exceeds the operator's remaining limits of this epoch.
const EOverLimit: u64 = 4;
/// A Treasury has at most 64 operators.
const ETooMany: u64 = 5;

/// The operators of one Treasury.
public struct Operators has store { all: vector<Operator> }

public struct Operator has copy, drop, store {
    cap_id: ID,
    /// The only address that may use the cap.
    holder: address,
    /// The last epoch in which the cap may be used.
    expires_epoch: u64,
    /// The maximum amounts per epoch.
    limits: Amounts,
    /// The epoch to which `spent` refers.
    epoch: u64,
    spent: Amounts,
}

/// Coins in their smallest units, and numbers of operations.
public struct Amounts has copy, drop, store {
    ika: u64,
    sui: u64,
    /// DKGs, and shares for other users.
    dkgs: u64,
    presigns: u64,
    signs: u64,
}

/// An operator was added, or its expiry and limits were set.
public struct OperatorSet has copy, drop {
    treasury_id: ID,
    operator_cap_id: ID,
    holder: address,
    expires_epoch: u64,
    limits: Amounts,
}

public struct OperatorRevoked has copy, drop { treasury_id: ID, operator_cap_id: ID }

public(package) fun none(): Operators {
    Operators { all: vector[] }
}

public(package) fun amounts(ika: u64, sui: u64, dkgs: u64, presigns: u64, signs: u64): Amounts {
    Amounts { ika, sui, dkgs, presigns, signs }
}

public(package) fun add(
    self: &mut Operators,
    treasury_id: ID,
    cap_id: ID,
    holder: address,
    expires_epoch: u64,
    limits: Amounts,
) {
    assert!(self.all.length() < MAX_OPERATORS, ETooMany);
    self.all.push_back(Operator { cap_id, holder, expires_epoch, limits, epoch: 0, spent: amounts(0, 0, 0, 0, 0) });
    event::emit(OperatorSet { treasury_id, operator_cap_id: cap_id, holder, expires_epoch, limits });
}

/// Sets the expiry and the limits of an operator. Its spending in this epoch counts against the new limits.
public(package) fun renew(self: &mut Operators, treasury_id: ID, cap_id: ID, expires_epoch: u64, limits: Amounts) {
    let operator = self.find(cap_id);
    operator.expires_epoch = expires_epoch;
    operator.limits = limits;
    event::emit(OperatorSet { treasury_id, operator_cap_id: cap_id, holder: operator.holder, expires_epoch, limits });
}

public(package) fun revoke(self: &mut Operators, treasury_id: ID, cap_id: ID) {
    let i = self.position(cap_id);
    let last = self.all.length() - 1;
    self.all.swap(i, last);
    self.all.pop_back();
    event::emit(OperatorRevoked { treasury_id, operator_cap_id: cap_id });
}

/// Aborts unless this sender may use the cap in this epoch.
public(package) fun check(self: &Operators, cap_id: ID, ctx: &TxContext) {
    let operator = &self.all[self.position(cap_id)];
    assert!(operator.holder == ctx.sender(), EWrongHolder);
    assert!(ctx.epoch() <= operator.expires_epoch, EExpired);
}

/// Adds amounts to an operator's spending. Aborts if the total exceeds the limits of this epoch.
public(package) fun spend(
    self: &mut Operators,
    cap_id: ID,
    op: u8,
    count: u64,
    ika: u64,
    sui: u64,
    ctx: &TxContext,
) {
    let operator = self.find(cap_id);
    if (operator.epoch != ctx.epoch()) {
        operator.epoch = ctx.epoch();
        operator.spent = amounts(0, 0, 0, 0, 0);
    };
    let (spent, limits) = (&mut operator.spent, &operator.limits);
    spent.ika = added(spent.ika, ika, limits.ika);
    spent.sui = added(spent.sui, sui, limits.sui);
    if (op == OP_DKG) spent.dkgs = added(spent.dkgs, count, limits.dkgs)
    else if (op == OP_PRESIGN) spent.presigns = added(spent.presigns, count, limits.presigns)
    else spent.signs = added(spent.signs, count, limits.signs);
}

fun added(spent: u64, more: u64, limit: u64): u64 {
    assert!(spent <= limit && more <= limit - spent, EOverLimit);
    spent + more
}

fun find(self: &mut Operators, cap_id: ID): &mut Operator {
    let i = self.position(cap_id);
    &mut self.all[i]
}

fun position(self: &Operators, cap_id: ID): u64 {
    let mut i = 0;
    while (i < self.all.length()) {
        if (self.all[i].cap_id == cap_id) return i;
        i = i + 1;
    };
    abort EUnknownOperator
}
