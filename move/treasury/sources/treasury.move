/// Pays the Ika network for dWallets, presigns and signatures out of one shared object, and keeps the capabilities
/// that these calls return.
///
/// An operator (the service's hot wallet) holds an `OperatorCap` and may only spend through the `pay_*` functions,
/// at most the ceiling that the administrator set for each operation. Whoever holds the `AdminCap` sets ceilings,
/// authorises and revokes operators, pauses, withdraws, and can release a dWallet's capability.
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
use sui::bcs;
use sui::coin::Coin;
use sui::event;
use sui::object_table::{Self, ObjectTable};
use sui::sui::SUI;
use sui::table::{Self, Table};
use sui::vec_set::{Self, VecSet};

/// The version that a Treasury must carry to be used with this package.
const VERSION: u64 = 1;
/// The most sessions of one `pay_presigns`; the chain's limit on dynamic fields is reached soon after.
const MAX_BATCH: u64 = 100;

// Operations, as the ceilings number them.
const OP_DKG: u8 = 0;
const OP_PRESIGN: u8 = 1;
const OP_SIGN: u8 = 2;

// Plain numbers, not `#[error]` constants: clients match them by code.
/// The Treasury is of another version than the package.
const EWrongVersion: u64 = 1;
/// The Treasury is paused.
const EPaused: u64 = 2;
/// The OperatorCap is not, or no longer, authorised by this Treasury.
const EOperatorRevoked: u64 = 3;
/// The AdminCap belongs to another Treasury.
const EAdminMismatch: u64 = 4;
/// No price ceiling is set for this operation.
const EPriceCeiling: u64 = 5;
/// The Treasury holds no capability for this dWallet.
const EUnknownDWallet: u64 = 6;
/// The Treasury holds no capability for this presign.
const EUnknownPresign: u64 = 7;
/// The Treasury does not hold what is to be withdrawn.
const EInsufficient: u64 = 8;
/// A batch has 1 to 100 sessions.
const EBadBatch: u64 = 9;
/// The operator to revoke is not authorised.
const EUnknownOperator: u64 = 10;
/// The Treasury is of this version, or of a newer one, already.
const ENothingToMigrate: u64 = 11;
/// The dWallet is of another curve than the ceiling that should bound its signature.
const EWrongCurve: u64 = 12;

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
    /// Authorised OperatorCaps.
    operators: VecSet<ID>,
    ceilings: Table<PriceKey, Ceiling>,
    /// By dWallet id.
    dwallet_caps: ObjectTable<ID, DWalletCap>,
    /// By presign id.
    presign_caps: ObjectTable<ID, UnverifiedPresignCap>,
    /// The curve of each dWallet whose capability the Treasury holds. Its signatures cost what this curve costs.
    dwallet_curves: Table<ID, u32>,
}

public struct AdminCap has key, store {
    id: UID,
    treasury_id: ID,
}

public struct OperatorCap has key, store {
    id: UID,
    treasury_id: ID,
}

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

public struct OperatorSet has copy, drop {
    treasury_id: ID,
    operator_cap_id: ID,
    authorised: bool,
}

public struct CeilingSet has copy, drop {
    treasury_id: ID,
    op: u8,
    curve: u32,
    signature_algorithm: u32,
    ika: u64,
    sui: u64,
}

public struct PauseSet has copy, drop {
    treasury_id: ID,
    paused: bool,
}

public struct DWalletReleased has copy, drop {
    treasury_id: ID,
    dwallet_id: ID,
    dwallet_cap_id: ID,
}

public struct PresignReleased has copy, drop {
    treasury_id: ID,
    presign_id: ID,
    presign_cap_id: ID,
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
    transfer::public_transfer(admin, ctx.sender());
}

fun create(ctx: &mut TxContext): (Treasury, AdminCap) {
    let treasury = Treasury {
        id: object::new(ctx),
        version: VERSION,
        paused: false,
        ika: balance::zero(),
        sui: balance::zero(),
        operators: vec_set::empty(),
        ceilings: table::new(ctx),
        dwallet_caps: object_table::new(ctx),
        presign_caps: object_table::new(ctx),
        dwallet_curves: table::new(ctx),
    };
    let admin = AdminCap { id: object::new(ctx), treasury_id: object::id(&treasury) };
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
    self.dwallet_caps.contains(dwallet_id)
}

public fun has_presign(self: &Treasury, presign_id: ID): bool {
    self.presign_caps.contains(presign_id)
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
    self.assert_operator(cap);
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
        ika: ika_before - ika.value(),
        sui: sui_before - sui.value(),
        request_ref,
    });
    self.dwallet_caps.add(dwallet_id, dwallet_cap);
    self.dwallet_curves.add(dwallet_id, curve);
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
    self.assert_operator(cap);
    let count = sessions.length();
    assert!(count > 0 && count <= MAX_BATCH, EBadBatch);
    let (mut ika, mut sui) = self.take(OP_PRESIGN, curve, signature_algorithm, count, ctx);
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
        let presign_id = presign_id_of(&presign_cap);
        event::emit(PresignPaid {
            treasury_id: object::id(self),
            operator_cap_id: object::id(cap),
            presign_id,
            curve,
            signature_algorithm,
            ika: ika_before - ika.value(),
            sui: sui_before - sui.value(),
        });
        self.presign_caps.add(presign_id, presign_cap);
        presign_ids.push_back(presign_id);
    };
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
    self.assert_operator(cap);
    assert!(self.dwallet_caps.contains(dwallet_id), EUnknownDWallet);
    assert!(self.presign_caps.contains(presign_id), EUnknownPresign);
    assert!(self.dwallet_curves[dwallet_id] == curve, EWrongCurve);
    let (mut ika, mut sui) = self.take(OP_SIGN, curve, signature_algorithm, 1, ctx);
    let (ika_before, sui_before) = (ika.value(), sui.value());
    let presign_cap = self.presign_caps.remove(presign_id);
    let verified_cap = coordinator.verify_presign_cap(presign_cap, ctx);
    let approval = coordinator.approve_message(
        self.dwallet_caps.borrow(dwallet_id),
        signature_algorithm,
        hash_scheme,
        message,
    );
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
    self.give_back(ika, sui);
    sign_id
}

// === Administrator ===

public fun new_operator(self: &mut Treasury, admin: &AdminCap, ctx: &mut TxContext): OperatorCap {
    self.assert_admin(admin);
    let operator = OperatorCap { id: object::new(ctx), treasury_id: object::id(self) };
    let operator_cap_id = object::id(&operator);
    self.operators.insert(operator_cap_id);
    event::emit(OperatorSet { treasury_id: object::id(self), operator_cap_id, authorised: true });
    operator
}

public fun revoke_operator(self: &mut Treasury, admin: &AdminCap, operator_cap_id: ID) {
    self.assert_admin(admin);
    assert!(self.operators.contains(&operator_cap_id), EUnknownOperator);
    self.operators.remove(&operator_cap_id);
    event::emit(OperatorSet { treasury_id: object::id(self), operator_cap_id, authorised: false });
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

public fun set_paused(self: &mut Treasury, admin: &AdminCap, paused: bool) {
    self.assert_admin(admin);
    self.paused = paused;
    event::emit(PauseSet { treasury_id: object::id(self), paused });
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

/// Hands a dWallet's capability out, for a user who leaves with their key.
public fun release_dwallet(self: &mut Treasury, admin: &AdminCap, dwallet_id: ID): DWalletCap {
    self.assert_admin(admin);
    assert!(self.dwallet_caps.contains(dwallet_id), EUnknownDWallet);
    let dwallet_cap = self.dwallet_caps.remove(dwallet_id);
    self.dwallet_curves.remove(dwallet_id);
    event::emit(DWalletReleased {
        treasury_id: object::id(self),
        dwallet_id,
        dwallet_cap_id: object::id(&dwallet_cap),
    });
    dwallet_cap
}

/// Hands a presign's capability out, for one that the network has rejected: nothing else takes it out of the Treasury.
public fun release_presign(self: &mut Treasury, admin: &AdminCap, presign_id: ID): UnverifiedPresignCap {
    self.assert_admin(admin);
    assert!(self.presign_caps.contains(presign_id), EUnknownPresign);
    let presign_cap = self.presign_caps.remove(presign_id);
    event::emit(PresignReleased {
        treasury_id: object::id(self),
        presign_id,
        presign_cap_id: object::id(&presign_cap),
    });
    presign_cap
}

/// Moves the Treasury to this version of the package.
public fun migrate(self: &mut Treasury, admin: &AdminCap) {
    self.assert_own_admin(admin);
    let from = self.version;
    assert!(from < VERSION, ENothingToMigrate);
    self.version = VERSION;
    event::emit(Migrated { treasury_id: object::id(self), from, to: VERSION });
}

// === Internal ===

fun assert_version(self: &Treasury) {
    assert!(self.version == VERSION, EWrongVersion);
}

fun assert_operator(self: &Treasury, cap: &OperatorCap) {
    self.assert_version();
    assert!(!self.paused, EPaused);
    let authorised = cap.treasury_id == object::id(self) && self.operators.contains(&object::id(cap));
    assert!(authorised, EOperatorRevoked);
}

fun assert_admin(self: &Treasury, admin: &AdminCap) {
    self.assert_version();
    self.assert_own_admin(admin);
}

fun assert_own_admin(self: &Treasury, admin: &AdminCap) {
    assert!(admin.treasury_id == object::id(self), EAdminMismatch);
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

/// `UnverifiedPresignCap` has no public getter for its presign, so it is read from the BCS form:
/// id, optional dWallet id, presign id.
fun presign_id_of(cap: &UnverifiedPresignCap): ID {
    let mut reader = bcs::new(bcs::to_bytes(cap));
    reader.peel_address();
    reader.peel_option_address();
    object::id_from_address(reader.peel_address())
}

// === Tests ===

#[test_only]
public fun create_for_testing(ctx: &mut TxContext): (Treasury, AdminCap) {
    create(ctx)
}

#[test_only]
public fun init_for_testing(ctx: &mut TxContext) {
    init(ctx);
}

#[test_only]
public fun share_for_testing(self: Treasury) {
    transfer::share_object(self);
}

#[test_only]
public fun set_version_for_testing(self: &mut Treasury, version: u64) {
    self.version = version;
}
