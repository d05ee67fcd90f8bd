/// Pays the Ika network for dWallets, presigns and signatures out of one shared object, and keeps the capabilities
/// that these calls return.
///
/// - Operators (the service's hot wallet) spend through the `pay_*` functions: at most the ceiling that the administrator
///   set for an operation, and at most their own limits in an epoch.
/// - Whoever holds the AdminCap governs: ceilings, operators, pauses, withdrawals. The AdminCap takes no dWallet out
///   before a delay that an event announces, and not at all if the owner forbids it.
/// - The owner of a dWallet, a user, takes its capability out at any time: `leave`.
///
/// A Treasury serves one version of the package. After an upgrade, every function that changes something aborts until
/// the administrator calls `migrate` of the new package; then those of the old package abort.
///
/// The dWallet capability inside the Treasury approves messages; a signature still needs the user's own share, so
/// neither operator nor administrator can sign alone.
module treasury::treasury;

use ika::ika::IKA;
use ika_dwallet_2pc_mpc::coordinator::DWalletCoordinator;
use ika_dwallet_2pc_mpc::coordinator_inner::{DWalletCap, UnverifiedPresignCap};
use sui::balance::{Self, Balance};
use sui::coin::Coin;
use sui::event;
use sui::sui::SUI;
use sui::table::{Self, Table};
use sui::transfer::Receiving;
use treasury::custody::{Self, Custody};
use treasury::operators::{Self, Amounts, Operators};
use treasury::roles::{Self, AdminCap, Roles};

/// The version that a Treasury must carry to be used with this package.
const VERSION: u64 = 1;
/// The most sessions of one `pay_presigns`; the chain's limit on dynamic fields is reached soon after.
const MAX_BATCH: u64 = 100;

// Operations, as the ceilings and the operators' limits number them.
const OP_DKG: u8 = 0;
const OP_PRESIGN: u8 = 1;
const OP_SIGN: u8 = 2;

// Plain numbers, not `#[error]` constants: clients match them by module and code. `operators`, `roles` and `custody` have
// codes of their own.
/// The Treasury is of another version than the package.
const EWrongVersion: u64 = 1;
/// The Treasury is paused.
const EPaused: u64 = 2;
/// The OperatorCap belongs to another Treasury.
const EWrongTreasury: u64 = 3;
/// No price ceiling is set for this operation.
const EPriceCeiling: u64 = 4;
/// The Treasury does not hold what is to be withdrawn.
const EInsufficient: u64 = 5;
/// A batch has 1 to 100 sessions.
const EBadBatch: u64 = 6;
/// The Treasury is of this version, or of a newer one, already.
const ENothingToMigrate: u64 = 7;
/// The dWallet is of another curve than the ceiling that should bound its signature.
const EWrongCurve: u64 = 8;

/// The most that one operation may cost.
public struct Ceiling has copy, drop, store {
    ika: u64,
    sui: u64,
}

public struct PriceKey has copy, drop, store {
    op: u8,
    curve: u32,
    signature_algorithm: u32,
}

public struct Treasury has key {
    id: UID,
    version: u64,
    paused: bool,
    ika: Balance<IKA>,
    sui: Balance<SUI>,
    roles: Roles,
    operators: Operators,
    ceilings: Table<PriceKey, Ceiling>,
    custody: Custody,
}

/// Spends from one Treasury, for one address. It cannot be transferred.
public struct OperatorCap has key {
    id: UID,
    treasury_id: ID,
}

public struct TreasuryCreated has copy, drop { treasury_id: ID, admin_cap_id: ID, holder: address }

public struct Deposited has copy, drop {
    treasury_id: ID,
    from: address,
    ika: u64,
    sui: u64,
}

public struct Drained has copy, drop {
    treasury_id: ID,
    to: address,
    ika: u64,
    sui: u64,
}

public struct CeilingSet has copy, drop {
    treasury_id: ID,
    op: u8,
    curve: u32,
    signature_algorithm: u32,
    ika: u64,
    sui: u64,
}

/// `by` is the pauser or the administrator.
public struct PauseSet has copy, drop {
    treasury_id: ID,
    paused: bool,
    by: address,
}

public struct Migrated has copy, drop {
    treasury_id: ID,
    from: u64,
    to: u64,
}

/// `ika` and `sui` of the paid events are what was spent, `request_ref` is the service's own reference.
public struct DkgPaid has copy, drop {
    treasury_id: ID,
    operator_cap_id: ID,
    dwallet_id: ID,
    dwallet_cap_id: ID,
    curve: u32,
    /// The address of the user's encryption key, who can take the capability out.
    owner: address,
    ika: u64,
    sui: u64,
    request_ref: vector<u8>,
}

public struct PresignPaid has copy, drop {
    treasury_id: ID,
    operator_cap_id: ID,
    presign_id: ID,
    curve: u32,
    signature_algorithm: u32,
    ika: u64,
    sui: u64,
}

public struct SignPaid has copy, drop {
    treasury_id: ID,
    operator_cap_id: ID,
    sign_id: ID,
    dwallet_id: ID,
    presign_id: ID,
    ika: u64,
    sui: u64,
    request_ref: vector<u8>,
}

fun init(ctx: &mut TxContext) {
    let (treasury, admin) = create(ctx);
    transfer::share_object(treasury);
    roles::give(admin, ctx.sender());
}

fun create(ctx: &mut TxContext): (Treasury, AdminCap) {
    let id = object::new(ctx);
    let treasury_id = id.to_inner();
    let (roles, admin) = roles::start(treasury_id, ctx);
    event::emit(TreasuryCreated { treasury_id, admin_cap_id: object::id(&admin), holder: ctx.sender() });
    let treasury = Treasury {
        id,
        version: VERSION,
        paused: false,
        ika: balance::zero(),
        sui: balance::zero(),
        roles,
        operators: operators::none(),
        ceilings: table::new(ctx),
        custody: custody::empty(ctx),
    };
    (treasury, admin)
}

// === Anyone ===

public fun deposit(self: &mut Treasury, ika: Coin<IKA>, sui: Coin<SUI>, ctx: &mut TxContext) {
    self.assert_version();
    event::emit(Deposited {
        treasury_id: object::id(self),
        from: ctx.sender(),
        ika: ika.value(),
        sui: sui.value(),
    });
    self.give_back(ika, sui);
}

public fun balances(self: &Treasury): (u64, u64) {
    (self.ika.value(), self.sui.value())
}

public fun has_dwallet(self: &Treasury, dwallet_id: ID): bool {
    self.custody.has_dwallet(dwallet_id)
}

public fun has_presign(self: &Treasury, presign_id: ID): bool {
    self.custody.has_presign(presign_id)
}

// === A user ===

/// Sends the dWallet's capability to `recipient`. Anybody may submit this: the owner of the dWallet has signed it, with the
/// Ed25519 key whose Sui address is the address of the user's encryption key. `treasury::consent` says which message. It
/// works while the Treasury is paused, too. Presigns and requests of the dWallet stay where they are: what has been paid
/// is signed, what has not been paid is not.
public fun leave(
    self: &mut Treasury,
    dwallet_id: ID,
    chain: vector<u8>,
    recipient: address,
    nonce: u64,
    expires_epoch: u64,
    public_key: vector<u8>,
    signature: vector<u8>,
    ctx: &mut TxContext,
) {
    self.assert_version();
    let id = object::id(self);
    self.custody.leave(id, dwallet_id, chain, recipient, nonce, expires_epoch, public_key, signature, ctx);
}

/// Forbids for good that the administrator hands the dWallet's capability to anybody, or to a successor. Anybody may
/// submit this: the owner has signed it. The owner can still leave.
public fun refuse_release(
    self: &mut Treasury,
    dwallet_id: ID,
    chain: vector<u8>,
    nonce: u64,
    expires_epoch: u64,
    public_key: vector<u8>,
    signature: vector<u8>,
    ctx: &mut TxContext,
) {
    self.assert_version();
    let id = object::id(self);
    self.custody.refuse(id, dwallet_id, chain, nonce, expires_epoch, public_key, signature, ctx);
}

// === Operator ===

/// Requests a dWallet, keeps its capability and returns its id. The session is bound to the transaction's sender.
public fun pay_dkg(
    self: &mut Treasury,
    cap: &OperatorCap,
    coordinator: &mut DWalletCoordinator,
    network_encryption_key_id: ID,
    curve: u32,
    public_key_share_and_proof: vector<u8>,
    encrypted_share_and_proof: vector<u8>,
    encryption_key_address: address,
    user_public_output: vector<u8>,
    signer_public_key: vector<u8>,
    session_bytes: vector<u8>,
    request_ref: vector<u8>,
    ctx: &mut TxContext,
): ID {
    self.assert_operator(cap, ctx);
    let (mut ika, mut sui) = self.take(OP_DKG, curve, 0, 1, ctx);
    let (ika_before, sui_before) = (ika.value(), sui.value());
    let session = coordinator.register_session_identifier(session_bytes, ctx);
    let (dwallet_cap, sign_id) = coordinator.request_dwallet_dkg(
        network_encryption_key_id,
        curve,
        public_key_share_and_proof,
        encrypted_share_and_proof,
        encryption_key_address,
        user_public_output,
        signer_public_key,
        option::none(),
        session,
        &mut ika,
        &mut sui,
        ctx,
    );
    sign_id.destroy_none();
    let dwallet_id = dwallet_cap.dwallet_id();
    event::emit(DkgPaid {
        treasury_id: object::id(self),
        operator_cap_id: object::id(cap),
        dwallet_id,
        dwallet_cap_id: object::id(&dwallet_cap),
        curve,
        owner: encryption_key_address,
        ika: ika_before - ika.value(),
        sui: sui_before - sui.value(),
        request_ref,
    });
    self.custody.keep_dwallet(dwallet_cap, curve, encryption_key_address);
    let (ika_spent, sui_spent) = (ika_before - ika.value(), sui_before - sui.value());
    self.operators.spend(object::id(cap), OP_DKG, 1, ika_spent, sui_spent, ctx);
    self.give_back(ika, sui);
    dwallet_id
}

/// Requests one global presign per session, in order, keeps their capabilities and returns their ids.
public fun pay_presigns(
    self: &mut Treasury,
    cap: &OperatorCap,
    coordinator: &mut DWalletCoordinator,
    network_encryption_key_id: ID,
    curve: u32,
    signature_algorithm: u32,
    mut sessions: vector<vector<u8>>,
    ctx: &mut TxContext,
): vector<ID> {
    self.assert_operator(cap, ctx);
    let count = sessions.length();
    assert!(count > 0 && count <= MAX_BATCH, EBadBatch);
    let (mut ika, mut sui) = self.take(OP_PRESIGN, curve, signature_algorithm, count, ctx);
    let (ika_taken, sui_taken) = (ika.value(), sui.value());
    let mut presign_ids = vector[];
    sessions.reverse();
    while (!sessions.is_empty()) {
        let (ika_before, sui_before) = (ika.value(), sui.value());
        let session = coordinator.register_session_identifier(sessions.pop_back(), ctx);
        let presign_cap = coordinator.request_global_presign(
            network_encryption_key_id,
            curve,
            signature_algorithm,
            session,
            &mut ika,
            &mut sui,
            ctx,
        );
        let presign_id = self.custody.keep_presign(presign_cap);
        event::emit(PresignPaid {
            treasury_id: object::id(self),
            operator_cap_id: object::id(cap),
            presign_id,
            curve,
            signature_algorithm,
            ika: ika_before - ika.value(),
            sui: sui_before - sui.value(),
        });
        presign_ids.push_back(presign_id);
    };
    let (ika_spent, sui_spent) = (ika_taken - ika.value(), sui_taken - sui.value());
    self.operators.spend(object::id(cap), OP_PRESIGN, count, ika_spent, sui_spent, ctx);
    self.give_back(ika, sui);
    presign_ids
}

/// Approves the message with the dWallet's capability, uses up the presign and requests the signature. The curve is the
/// dWallet's: it names the ceiling.
public fun pay_sign(
    self: &mut Treasury,
    cap: &OperatorCap,
    coordinator: &mut DWalletCoordinator,
    dwallet_id: ID,
    presign_id: ID,
    curve: u32,
    signature_algorithm: u32,
    hash_scheme: u32,
    message: vector<u8>,
    message_centralized_signature: vector<u8>,
    session_bytes: vector<u8>,
    request_ref: vector<u8>,
    ctx: &mut TxContext,
): ID {
    self.assert_operator(cap, ctx);
    let (own_curve, _) = self.custody.dwallet(dwallet_id);
    assert!(own_curve == curve, EWrongCurve);
    let presign_cap = self.custody.take_presign(presign_id);
    let (mut ika, mut sui) = self.take(OP_SIGN, curve, signature_algorithm, 1, ctx);
    let (ika_before, sui_before) = (ika.value(), sui.value());
    let verified_cap = coordinator.verify_presign_cap(presign_cap, ctx);
    let (_, dwallet_cap) = self.custody.dwallet(dwallet_id);
    let approval = coordinator.approve_message(dwallet_cap, signature_algorithm, hash_scheme, message);
    let session = coordinator.register_session_identifier(session_bytes, ctx);
    let sign_id = coordinator.request_sign_and_return_id(
        verified_cap,
        approval,
        message_centralized_signature,
        session,
        &mut ika,
        &mut sui,
        ctx,
    );
    event::emit(SignPaid {
        treasury_id: object::id(self),
        operator_cap_id: object::id(cap),
        sign_id,
        dwallet_id,
        presign_id,
        ika: ika_before - ika.value(),
        sui: sui_before - sui.value(),
        request_ref,
    });
    let (ika_spent, sui_spent) = (ika_before - ika.value(), sui_before - sui.value());
    self.operators.spend(object::id(cap), OP_SIGN, 1, ika_spent, sui_spent, ctx);
    self.give_back(ika, sui);
    sign_id
}

// === Pauser ===

/// Stops all payments. Only the administrator resumes them.
public fun pause(self: &mut Treasury, ctx: &mut TxContext) {
    self.assert_version();
    self.roles.check_pauser(ctx);
    self.set_pause(true, ctx);
}

// === Administrator: operators, prices, funds ===

/// Gives `holder` an OperatorCap that nobody else can use. `expires_epoch` is the last epoch in which it can be used; the
/// other numbers are what it may spend in one epoch.
public fun new_operator(
    self: &mut Treasury,
    admin: &AdminCap,
    holder: address,
    expires_epoch: u64,
    ika: u64,
    sui: u64,
    dkgs: u64,
    presigns: u64,
    signs: u64,
    ctx: &mut TxContext,
) {
    self.assert_admin(admin);
    let limits = operators::amounts(ika, sui, dkgs, presigns, signs);
    transfer::transfer(self.make_operator(holder, expires_epoch, limits, ctx), holder);
}

/// Sets the expiry and the limits of an operator. What it has spent in this epoch still counts.
public fun renew_operator(
    self: &mut Treasury,
    admin: &AdminCap,
    operator_cap_id: ID,
    expires_epoch: u64,
    ika: u64,
    sui: u64,
    dkgs: u64,
    presigns: u64,
    signs: u64,
) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    let limits = operators::amounts(ika, sui, dkgs, presigns, signs);
    self.operators.renew(treasury_id, operator_cap_id, expires_epoch, limits);
}

public fun revoke_operator(self: &mut Treasury, admin: &AdminCap, operator_cap_id: ID) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.operators.revoke(treasury_id, operator_cap_id);
}

public fun set_ceiling(
    self: &mut Treasury,
    admin: &AdminCap,
    op: u8,
    curve: u32,
    signature_algorithm: u32,
    ika: u64,
    sui: u64,
) {
    self.assert_admin(admin);
    let key = PriceKey { op, curve, signature_algorithm };
    if (self.ceilings.contains(key)) { self.ceilings.remove(key); };
    self.ceilings.add(key, Ceiling { ika, sui });
    event::emit(CeilingSet { treasury_id: object::id(self), op, curve, signature_algorithm, ika, sui });
}

public fun set_paused(self: &mut Treasury, admin: &AdminCap, paused: bool, ctx: &mut TxContext) {
    self.assert_admin(admin);
    self.set_pause(paused, ctx);
}

public fun drain(
    self: &mut Treasury,
    admin: &AdminCap,
    ika: u64,
    sui: u64,
    to: address,
    ctx: &mut TxContext,
) {
    self.assert_admin(admin);
    assert!(self.ika.value() >= ika && self.sui.value() >= sui, EInsufficient);
    event::emit(Drained { treasury_id: object::id(self), to, ika, sui });
    transfer::public_transfer(self.ika.split(ika).into_coin(ctx), to);
    transfer::public_transfer(self.sui.split(sui).into_coin(ctx), to);
}

// === Administrator: roles ===

/// Sets who may pause, and who may replace a lost AdminCap. The zero address is nobody. A pending offer of the recovery
/// holder ends if another one follows.
public fun set_roles(self: &mut Treasury, admin: &AdminCap, pauser: address, recovery: address) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.roles.set(treasury_id, pauser, recovery);
}

/// Offers the administration to an address, which has to accept. A later offer replaces an earlier one.
public fun offer_admin(self: &mut Treasury, admin: &AdminCap, to: address, ctx: &mut TxContext) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.roles.offer(treasury_id, to, ctx);
}

/// Withdraws the offer of the administration, also one of the recovery holder.
public fun withdraw_admin_offer(self: &mut Treasury, admin: &AdminCap) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.roles.withdraw_offer(treasury_id);
}

/// Gives the sender, to whom the administration is offered, a new AdminCap. The old one counts no more.
public fun accept_admin(self: &mut Treasury, ctx: &mut TxContext) {
    self.assert_version();
    let treasury_id = object::id(self);
    roles::give(self.roles.accept(treasury_id, ctx), ctx.sender());
}

/// Offers the administration to an address because the AdminCap is lost. The sender is the recovery holder. The offer can
/// be accepted after seven epochs; until somebody accepts it, the holder of the AdminCap can withdraw it.
public fun recover_admin(self: &mut Treasury, to: address, ctx: &mut TxContext) {
    self.assert_version();
    let treasury_id = object::id(self);
    self.roles.recover(treasury_id, to, ctx);
}

// === Administrator: capabilities ===

/// Announces that a dWallet's capability goes to `recipient` after fourteen epochs, unless its owner forbids it. The
/// announcement serves for the fourteen epochs after these.
public fun announce_release(
    self: &mut Treasury,
    admin: &AdminCap,
    dwallet_id: ID,
    recipient: address,
    ctx: &mut TxContext,
) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.announce_release(treasury_id, dwallet_id, recipient, ctx);
}

public fun withdraw_release(self: &mut Treasury, admin: &AdminCap, dwallet_id: ID) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.withdraw_release(treasury_id, dwallet_id);
}

/// Sends a dWallet's capability to the recipient that was announced at least fourteen epochs ago.
public fun release_dwallet(self: &mut Treasury, admin: &AdminCap, dwallet_id: ID, ctx: &mut TxContext) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.release(treasury_id, dwallet_id, ctx);
}

/// Sends a presign's capability to an address, for one that the network has rejected: nothing else takes it out.
public fun release_presign(self: &mut Treasury, admin: &AdminCap, presign_id: ID, recipient: address) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.release_presign(treasury_id, presign_id, recipient);
}

/// Announces that the capabilities go to another Treasury, of this or of another package, after fourteen epochs. The
/// announcement serves for the fourteen epochs after these. `successor` is the id of that Treasury as an address. Nothing
/// here shows that a Treasury is there: whoever relies on this Treasury has to look.
public fun announce_successor(self: &mut Treasury, admin: &AdminCap, successor: address, ctx: &mut TxContext) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.announce_successor(treasury_id, successor, ctx);
}

public fun withdraw_successor(self: &mut Treasury, admin: &AdminCap) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.withdraw_successor(treasury_id);
}

/// Sends the capabilities of these dWallets to the successor. Its administrator has to take them in.
public fun move_dwallets(self: &mut Treasury, admin: &AdminCap, dwallet_ids: vector<ID>, ctx: &mut TxContext) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.move_dwallets(treasury_id, dwallet_ids, ctx);
}

/// Sends the capabilities of these presigns to the successor. Its administrator has to take them in.
public fun move_presigns(self: &mut Treasury, admin: &AdminCap, presign_ids: vector<ID>, ctx: &mut TxContext) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.move_presigns(treasury_id, presign_ids, ctx);
}

/// Takes in a dWallet's capability that somebody has sent to this Treasury. Neither Ika nor the sender's package says
/// here which curve and which owner it has: both are public, in `DkgPaid` and `DWalletMoved`. So whoever sends a
/// capability here relies on the administrator to name its owner.
public fun take_in_dwallet(
    self: &mut Treasury,
    admin: &AdminCap,
    sent: Receiving<DWalletCap>,
    curve: u32,
    owner: address,
) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    let cap = transfer::public_receive(&mut self.id, sent);
    self.custody.take_in_dwallet(treasury_id, cap, curve, owner);
}

/// Takes in a presign's capability that somebody has sent to this Treasury.
public fun take_in_presign(self: &mut Treasury, admin: &AdminCap, sent: Receiving<UnverifiedPresignCap>) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    let cap = transfer::public_receive(&mut self.id, sent);
    self.custody.take_in_presign(treasury_id, cap);
}

// === Administrator: upgrades ===

/// Moves the Treasury to this version of the package.
public fun migrate(self: &mut Treasury, admin: &AdminCap) {
    self.roles.check_admin(admin);
    let from = self.version;
    assert!(from < VERSION, ENothingToMigrate);
    self.version = VERSION;
    event::emit(Migrated { treasury_id: object::id(self), from, to: VERSION });
}

// === Internal ===

fun assert_version(self: &Treasury) {
    assert!(self.version == VERSION, EWrongVersion);
}

fun assert_operator(self: &Treasury, cap: &OperatorCap, ctx: &TxContext) {
    self.assert_version();
    assert!(!self.paused, EPaused);
    assert!(cap.treasury_id == object::id(self), EWrongTreasury);
    self.operators.check(object::id(cap), ctx);
}

fun assert_admin(self: &Treasury, admin: &AdminCap) {
    self.assert_version();
    self.roles.check_admin(admin);
}

fun make_operator(
    self: &mut Treasury,
    holder: address,
    expires_epoch: u64,
    limits: Amounts,
    ctx: &mut TxContext,
): OperatorCap {
    let treasury_id = object::id(self);
    let cap = OperatorCap { id: object::new(ctx), treasury_id };
    self.operators.add(treasury_id, object::id(&cap), holder, expires_epoch, limits);
    cap
}

fun set_pause(self: &mut Treasury, paused: bool, ctx: &TxContext) {
    self.paused = paused;
    event::emit(PauseSet { treasury_id: object::id(self), paused, by: ctx.sender() });
}

/// Withdraws the ceiling `count` times, or all there is if that is less. Contracts cannot read Ika's prices: when the
/// coins do not hold one, the coordinator aborts, and what is left over goes back.
fun take(
    self: &mut Treasury,
    op: u8,
    curve: u32,
    signature_algorithm: u32,
    count: u64,
    ctx: &mut TxContext,
): (Coin<IKA>, Coin<SUI>) {
    let key = PriceKey { op, curve, signature_algorithm };
    assert!(self.ceilings.contains(key), EPriceCeiling);
    let ceiling = self.ceilings[key];
    let ika = at_most(ceiling.ika, count, self.ika.value());
    let sui = at_most(ceiling.sui, count, self.sui.value());
    (self.ika.split(ika).into_coin(ctx), self.sui.split(sui).into_coin(ctx))
}

/// `each` times `count`, which is at least one, or the balance if that is less; never overflows.
fun at_most(each: u64, count: u64, balance: u64): u64 {
    if (each > balance / count) balance else each * count
}

fun give_back(self: &mut Treasury, ika: Coin<IKA>, sui: Coin<SUI>) {
    self.ika.join(ika.into_balance());
    self.sui.join(sui.into_balance());
}

// === Tests ===
// What a transaction sends to somebody cannot be had in a test, so these return it.

#[test_only]
public fun create_for_testing(ctx: &mut TxContext): (Treasury, AdminCap) {
    create(ctx)
}

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) {
    init(ctx);
}

#[test_only]
public fun new_operator_for_testing(
    self: &mut Treasury,
    admin: &AdminCap,
    holder: address,
    expires_epoch: u64,
    limits: Amounts,
    ctx: &mut TxContext,
): OperatorCap {
    self.assert_admin(admin);
    self.make_operator(holder, expires_epoch, limits, ctx)
}

#[test_only]
public fun accept_admin_for_testing(self: &mut Treasury, ctx: &mut TxContext): AdminCap {
    self.assert_version();
    let treasury_id = object::id(self);
    self.roles.accept(treasury_id, ctx)
}

#[test_only]
public fun take_in_dwallet_for_testing(self: &mut Treasury, admin: &AdminCap, cap: DWalletCap, curve: u32, owner: address) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.take_in_dwallet(treasury_id, cap, curve, owner);
}

#[test_only]
public fun take_in_presign_for_testing(self: &mut Treasury, admin: &AdminCap, cap: UnverifiedPresignCap) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.take_in_presign(treasury_id, cap);
}

#[test_only]
public fun discard_for_testing(cap: OperatorCap) {
    let OperatorCap { id, treasury_id: _ } = cap;
    id.delete();
}

#[test_only]
public fun share_for_testing(self: Treasury) {
    transfer::share_object(self);
}

#[test_only]
public fun set_version_for_testing(self: &mut Treasury, version: u64) {
    self.version = version;
}
