/// The roles that govern the Treasury: the holder of the AdminCap, an address that may only pause, and an address that
/// may replace a lost AdminCap.
module treasury::roles;

use sui::event;

/// The number of epochs before a recovery can be accepted, in which the holder of the AdminCap can stop it. An epoch of
/// Sui takes about a day.
const RECOVERY_DELAY: u64 = 7;
/// The zero address: nobody holds the role.
const NOBODY: address = @0x0;

/// The AdminCap belongs to another Treasury, or a new one has replaced it.
const ENotAdmin: u64 = 1;
/// The sender is not the pauser.
const ENotPauser: u64 = 2;
/// The sender is not the recovery holder.
const ENotRecovery: u64 = 3;
/// The administration is not offered, or is not offered to the sender.
const ENotOffered: u64 = 4;
/// The recovery's delay has not passed.
const ETooEarly: u64 = 5;

/// Governs one Treasury. It cannot be transferred: `offer_admin` and `accept_admin` replace it with a new one.
public struct AdminCap has key { id: UID, treasury_id: ID }

public struct Roles has store {
    /// The only valid AdminCap.
    admin_cap_id: ID,
    /// The zero address if nobody holds the role.
    pauser: address,
    /// The zero address if nobody holds the role.
    recovery: address,
    offer: Option<Offer>,
}

/// An offer of the administration to an address, which can accept it from `from_epoch` on.
public struct Offer has copy, drop, store {
    to: address,
    from_epoch: u64,
    /// Whether the recovery holder has made the offer.
    is_recovery: bool,
}

public struct RolesSet has copy, drop { treasury_id: ID, pauser: address, recovery: address }

/// The administration was offered. `is_recovery` tells whether the recovery holder has made the offer.
public struct AdminOffered has copy, drop { treasury_id: ID, to: address, from_epoch: u64, is_recovery: bool }

public struct AdminOfferWithdrawn has copy, drop { treasury_id: ID }

public struct AdminReplaced has copy, drop { treasury_id: ID, admin_cap_id: ID, holder: address }

/// Returns the roles of a new Treasury, and its first AdminCap.
public(package) fun start(treasury_id: ID, ctx: &mut TxContext): (Roles, AdminCap) {
    let cap = AdminCap { id: object::new(ctx), treasury_id };
    (Roles { admin_cap_id: object::id(&cap), pauser: NOBODY, recovery: NOBODY, offer: option::none() }, cap)
}

/// Transfers an AdminCap to its holder, who cannot transfer it.
public(package) fun give(cap: AdminCap, holder: address) {
    transfer::transfer(cap, holder);
}

public(package) fun check_admin(self: &Roles, cap: &AdminCap) {
    assert!(object::id(cap) == self.admin_cap_id, ENotAdmin);
}

public(package) fun check_pauser(self: &Roles, ctx: &TxContext) {
    assert!(ctx.sender() == self.pauser, ENotPauser);
}

/// Sets the roles. A change of the recovery holder withdraws an offer that the previous one has made.
public(package) fun set(self: &mut Roles, treasury_id: ID, pauser: address, recovery: address) {
    let is_replaced = self.recovery != recovery;
    self.pauser = pauser;
    self.recovery = recovery;
    event::emit(RolesSet { treasury_id, pauser, recovery });
    if (is_replaced && self.offer.is_some() && self.offer.borrow().is_recovery) self.withdraw_offer(treasury_id);
}

/// Offers the administration to an address. A later offer replaces an earlier one.
public(package) fun offer(self: &mut Roles, treasury_id: ID, to: address, ctx: &TxContext) {
    self.set_offer(treasury_id, to, ctx.epoch(), false);
}

/// Offers the administration to an address on behalf of the recovery holder. The offer can be accepted after the delay.
/// The holder of the AdminCap can withdraw it until it is accepted.
public(package) fun recover(self: &mut Roles, treasury_id: ID, to: address, ctx: &TxContext) {
    assert!(ctx.sender() == self.recovery, ENotRecovery);
    self.set_offer(treasury_id, to, ctx.epoch() + RECOVERY_DELAY, true);
}

public(package) fun withdraw_offer(self: &mut Roles, treasury_id: ID) {
    assert!(self.offer.is_some(), ENotOffered);
    self.offer = option::none();
    event::emit(AdminOfferWithdrawn { treasury_id });
}

/// Creates a new AdminCap for the sender, which invalidates the old one. Aborts unless the administration is offered to
/// the sender and the delay has passed.
public(package) fun accept(self: &mut Roles, treasury_id: ID, ctx: &mut TxContext): AdminCap {
    assert!(self.offer.is_some(), ENotOffered);
    let Offer { to, from_epoch, .. } = *self.offer.borrow();
    assert!(to == ctx.sender(), ENotOffered);
    assert!(ctx.epoch() >= from_epoch, ETooEarly);
    self.offer = option::none();
    let cap = AdminCap { id: object::new(ctx), treasury_id };
    self.admin_cap_id = object::id(&cap);
    event::emit(AdminReplaced { treasury_id, admin_cap_id: self.admin_cap_id, holder: to });
    cap
}

fun set_offer(self: &mut Roles, treasury_id: ID, to: address, from_epoch: u64, is_recovery: bool) {
    self.offer = option::some(Offer { to, from_epoch, is_recovery });
    event::emit(AdminOffered { treasury_id, to, from_epoch, is_recovery });
}
