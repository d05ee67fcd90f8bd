/// Pays the Ika network for dWallets, presigns and signatures out of one shared object, and keeps the capabilities
/// that these calls return.
///
/// - Operators (the service's hot wallet) spend through the `pay_*` functions. The administrator's ceiling bounds each
///   operation, and the operator's own limits bound each epoch.
/// - The administrator, who holds the AdminCap, governs ceilings, operators, pauses and withdrawals. It can take out a
///   dWallet only after a delay that an event announces, and never if the owner forbids it.
/// - The owner of a dWallet, a user, can take out its capability at any time with `leave`.
///
/// A Treasury works with one version of the package. After an upgrade, every function of the new package that changes
/// the Treasury aborts until the administrator calls its `migrate`. From then on, those of the old package abort.
///
/// The dWallet capability inside the Treasury approves messages. A signature also needs the user's own share, so
/// neither an operator nor the administrator can sign alone.
module treasury::treasury;

use ika::ika::IKA;
use ika_dwallet_2pc_mpc::coordinator::DWalletCoordinator;
use ika_dwallet_2pc_mpc::coordinator_inner::{DWalletCap, ImportedKeyDWalletCap, UnverifiedPresignCap};
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
/// The maximum number of sessions of one `pay_presigns`. The chain's limit on dynamic fields allows few more.
const MAX_BATCH: u64 = 100;

// The numbers of the operations in the ceilings and in the operators' limits.
const OP_DKG: u8 = 0;
const OP_PRESIGN: u8 = 1;
const OP_SIGN: u8 = 2;
const OP_SHARE: u8 = 3;
const OP_IMPORT: u8 = 4;
const OP_FUTURE_SIGN: u8 = 5;
const OP_PARTIAL_SIGN: u8 = 6;

// Plain numbers, not `#[error]` constants: clients match them by module and code. `operators`, `roles` and `custody`
// have their own codes.
/// The Treasury's version is not the package's.
const EWrongVersion: u64 = 1;
/// The Treasury is paused.
const EPaused: u64 = 2;
/// The OperatorCap belongs to another Treasury.
const EWrongTreasury: u64 = 3;
/// No price ceiling is set for this operation.
const EPriceCeiling: u64 = 4;
/// The Treasury's balance is lower than the withdrawal.
const EInsufficient: u64 = 5;
/// A batch has 1 to 100 sessions.
const EBadBatch: u64 = 6;
/// The Treasury already has this version or a newer one.
const ENothingToMigrate: u64 = 7;
/// The dWallet's curve is not the curve of the call, which selects the price ceiling.
const EWrongCurve: u64 = 8;

/// The maximum cost of one operation, in the smallest units.
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

/// Lets one address spend from one Treasury. It cannot be transferred.
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

/// A dWallet was requested and paid. `ika` and `sui` of the paid events are the amounts spent. `request_ref` is the
/// service's own reference.
public struct DkgPaid has copy, drop {
    treasury_id: ID,
    operator_cap_id: ID,
    dwallet_id: ID,
    dwallet_cap_id: ID,
    curve: u32,
    /// The address of the user's encryption key. Its signature takes out the capability.
    owner: address,
    ika: u64,
    sui: u64,
    request_ref: vector<u8>,
}

/// The verification of an imported key was requested and paid.
public struct ImportPaid has copy, drop {
    treasury_id: ID,
    operator_cap_id: ID,
    dwallet_id: ID,
    dwallet_cap_id: ID,
    curve: u32,
    /// The address of the user's encryption key. Its signature takes out the capability.
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

/// The check of a share for another user was requested and paid. Ika's own event has the share's id.
public struct SharePaid has copy, drop {
    treasury_id: ID,
    operator_cap_id: ID,
    dwallet_id: ID,
    /// The address of the other user's encryption key.
    recipient: address,
    ika: u64,
    sui: u64,
    request_ref: vector<u8>,
}

/// The check of a user's half of a signature was requested and paid. Ika's own event has the half's id.
public struct FutureSignPaid has copy, drop {
    treasury_id: ID,
    operator_cap_id: ID,
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

/// Sends the dWallet's capability to `recipient`. Anyone may submit the call, because it carries the owner's signature.
/// The owner signs with the Ed25519 key whose Sui address is the address of the user's encryption key.
/// `treasury::consent` defines the message. The call also works while the Treasury is paused. It does not affect
/// presigns and pending requests of the dWallet: paid signatures are still made, unpaid ones are not. Halves that the
/// Treasury keeps for later are never completed.
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
    self
        .custody
        .leave(
            &mut self.id,
            id,
            dwallet_id,
            chain,
            recipient,
            nonce,
            expires_epoch,
            public_key,
            signature,
            ctx,
        );
}

/// Permanently forbids the administrator from releasing the dWallet's capability or moving it to a successor. Anyone
/// may submit the call, because it carries the owner's signature. The owner can still leave.
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

/// Requests the verification of a user's own key, keeps the capability of its dWallet and returns the dWallet's id. The
/// session is bound to the transaction's sender. An operator's limit on DKGs counts it too.
public fun pay_import(
    self: &mut Treasury,
    cap: &OperatorCap,
    coordinator: &mut DWalletCoordinator,
    network_encryption_key_id: ID,
    curve: u32,
    centralized_party_message: vector<u8>,
    encrypted_share_and_proof: vector<u8>,
    encryption_key_address: address,
    user_public_output: vector<u8>,
    signer_public_key: vector<u8>,
    session_bytes: vector<u8>,
    request_ref: vector<u8>,
    ctx: &mut TxContext,
): ID {
    self.assert_operator(cap, ctx);
    let (mut ika, mut sui) = self.take(OP_IMPORT, curve, 0, 1, ctx);
    let (ika_before, sui_before) = (ika.value(), sui.value());
    let session = coordinator.register_session_identifier(session_bytes, ctx);
    let dwallet_cap = coordinator.request_imported_key_dwallet_verification(
        network_encryption_key_id,
        curve,
        centralized_party_message,
        encrypted_share_and_proof,
        encryption_key_address,
        user_public_output,
        signer_public_key,
        session,
        &mut ika,
        &mut sui,
        ctx,
    );
    let dwallet_id = dwallet_cap.imported_key_dwallet_id();
    let (ika_spent, sui_spent) = (ika_before - ika.value(), sui_before - sui.value());
    event::emit(ImportPaid {
        treasury_id: object::id(self),
        operator_cap_id: object::id(cap),
        dwallet_id,
        dwallet_cap_id: object::id(&dwallet_cap),
        curve,
        owner: encryption_key_address,
        ika: ika_spent,
        sui: sui_spent,
        request_ref,
    });
    self.custody.keep_imported_key(&mut self.id, dwallet_cap, curve, encryption_key_address);
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

/// Requests one presign per session that only this dWallet can use, in order, keeps their capabilities and returns
/// their ids. ECDSA of an imported key needs such presigns. Their ceiling is that of global ones.
public fun pay_dwallet_presigns(
    self: &mut Treasury,
    cap: &OperatorCap,
    coordinator: &mut DWalletCoordinator,
    dwallet_id: ID,
    signature_algorithm: u32,
    mut sessions: vector<vector<u8>>,
    ctx: &mut TxContext,
): vector<ID> {
    self.assert_operator(cap, ctx);
    let count = sessions.length();
    assert!(count > 0 && count <= MAX_BATCH, EBadBatch);
    let curve = self.custody.curve(dwallet_id);
    let (mut ika, mut sui) = self.take(OP_PRESIGN, curve, signature_algorithm, count, ctx);
    let (ika_taken, sui_taken) = (ika.value(), sui.value());
    let mut presign_ids = vector[];
    sessions.reverse();
    while (!sessions.is_empty()) {
        let (ika_before, sui_before) = (ika.value(), sui.value());
        let session = coordinator.register_session_identifier(sessions.pop_back(), ctx);
        let presign_cap = coordinator.request_presign(
            dwallet_id,
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

/// Approves the message with the dWallet's capability, uses up the presign and requests the signature. `curve` must be
/// the dWallet's curve. It selects the price ceiling.
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
    assert!(self.custody.curve(dwallet_id) == curve, EWrongCurve);
    let presign_cap = self.custody.take_presign(presign_id);
    let (mut ika, mut sui) = self.take(OP_SIGN, curve, signature_algorithm, 1, ctx);
    let (ika_before, sui_before) = (ika.value(), sui.value());
    let verified_cap = coordinator.verify_presign_cap(presign_cap, ctx);
    let dwallet_cap = self.custody.dwallet(dwallet_id);
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

/// Does the same as `pay_sign` with an imported key.
public fun pay_imported_key_sign(
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
    assert!(self.custody.curve(dwallet_id) == curve, EWrongCurve);
    let presign_cap = self.custody.take_presign(presign_id);
    let (mut ika, mut sui) = self.take(OP_SIGN, curve, signature_algorithm, 1, ctx);
    let (ika_before, sui_before) = (ika.value(), sui.value());
    let verified_cap = coordinator.verify_presign_cap(presign_cap, ctx);
    let dwallet_cap = custody::imported_key(&self.id, dwallet_id);
    let approval = coordinator.approve_imported_key_message(dwallet_cap, signature_algorithm, hash_scheme, message);
    let session = coordinator.register_session_identifier(session_bytes, ctx);
    let sign_id = coordinator.request_imported_key_sign_and_return_id(
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

/// Requests the network's check of a dWallet's share that a holder has encrypted for another user. It gives away no
/// capability: the other user can only make a half of a signature, and the Treasury approves messages as before.
/// `curve` must be the dWallet's curve. It selects the price ceiling. Against the operator's limits it counts as a DKG.
public fun pay_share(
    self: &mut Treasury,
    cap: &OperatorCap,
    coordinator: &mut DWalletCoordinator,
    dwallet_id: ID,
    curve: u32,
    recipient: address,
    encrypted_share_and_proof: vector<u8>,
    source_share_id: ID,
    session_bytes: vector<u8>,
    request_ref: vector<u8>,
    ctx: &mut TxContext,
) {
    self.assert_operator(cap, ctx);
    assert!(self.custody.curve(dwallet_id) == curve, EWrongCurve);
    let (mut ika, mut sui) = self.take(OP_SHARE, curve, 0, 1, ctx);
    let (ika_before, sui_before) = (ika.value(), sui.value());
    let session = coordinator.register_session_identifier(session_bytes, ctx);
    coordinator.request_re_encrypt_user_share_for(
        dwallet_id,
        recipient,
        encrypted_share_and_proof,
        source_share_id,
        session,
        &mut ika,
        &mut sui,
        ctx,
    );
    let (ika_spent, sui_spent) = (ika_before - ika.value(), sui_before - sui.value());
    event::emit(SharePaid {
        treasury_id: object::id(self),
        operator_cap_id: object::id(cap),
        dwallet_id,
        recipient,
        ika: ika_spent,
        sui: sui_spent,
        request_ref,
    });
    self.operators.spend(object::id(cap), OP_DKG, 1, ika_spent, sui_spent, ctx);
    self.give_back(ika, sui);
}

/// Uses up the presign, requests the network's check of a user's half of a signature and keeps the half's capability
/// for `epochs` epochs, 1 to 31. It approves nothing: the signature is requested by `pay_partial_sign`. A dWallet or
/// imported key has at most 64 halves. They end when its capability leaves the Treasury, also if it comes back.
/// `curve` must be the dWallet's curve. It selects the price ceiling. Against the operator's limits it counts as a
/// signature.
public fun pay_future_sign(
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
    epochs: u64,
    session_bytes: vector<u8>,
    request_ref: vector<u8>,
    ctx: &mut TxContext,
) {
    self.assert_operator(cap, ctx);
    assert!(self.custody.curve(dwallet_id) == curve, EWrongCurve);
    let presign_cap = self.custody.take_presign(presign_id);
    let (mut ika, mut sui) = self.take(OP_FUTURE_SIGN, curve, signature_algorithm, 1, ctx);
    let (ika_before, sui_before) = (ika.value(), sui.value());
    let verified_cap = coordinator.verify_presign_cap(presign_cap, ctx);
    let session = coordinator.register_session_identifier(session_bytes, ctx);
    let half_cap = coordinator.request_future_sign(
        dwallet_id,
        verified_cap,
        message,
        hash_scheme,
        message_centralized_signature,
        session,
        &mut ika,
        &mut sui,
        ctx,
    );
    custody::keep_half(&mut self.id, half_cap, dwallet_id, presign_id, epochs, ctx);
    let (ika_spent, sui_spent) = (ika_before - ika.value(), sui_before - sui.value());
    event::emit(FutureSignPaid {
        treasury_id: object::id(self),
        operator_cap_id: object::id(cap),
        dwallet_id,
        presign_id,
        ika: ika_spent,
        sui: sui_spent,
        request_ref,
    });
    self.operators.spend(object::id(cap), OP_FUTURE_SIGN, 1, ika_spent, sui_spent, ctx);
    self.give_back(ika, sui);
}

/// Approves the message with the capability of the dWallet or imported key, and requests the signature that completes
/// the user's half. `message`, `signature_algorithm` and `hash_scheme` must be those of the half: Ika compares them.
public fun pay_partial_sign(
    self: &mut Treasury,
    cap: &OperatorCap,
    coordinator: &mut DWalletCoordinator,
    dwallet_id: ID,
    presign_id: ID,
    curve: u32,
    signature_algorithm: u32,
    hash_scheme: u32,
    message: vector<u8>,
    session_bytes: vector<u8>,
    request_ref: vector<u8>,
    ctx: &mut TxContext,
): ID {
    self.assert_operator(cap, ctx);
    assert!(self.custody.curve(dwallet_id) == curve, EWrongCurve);
    let half_cap = custody::take_half(&mut self.id, dwallet_id, presign_id, ctx);
    let (mut ika, mut sui) = self.take(OP_PARTIAL_SIGN, curve, signature_algorithm, 1, ctx);
    let (ika_before, sui_before) = (ika.value(), sui.value());
    let verified_cap = coordinator.verify_partial_user_signature_cap(half_cap, ctx);
    let session = coordinator.register_session_identifier(session_bytes, ctx);
    let sign_id = if (self.custody.is_imported_key(dwallet_id)) {
        let dwallet_cap = custody::imported_key(&self.id, dwallet_id);
        let approval = coordinator.approve_imported_key_message(dwallet_cap, signature_algorithm, hash_scheme, message);
        coordinator.request_imported_key_sign_with_partial_user_signature_and_return_id(
            verified_cap,
            approval,
            session,
            &mut ika,
            &mut sui,
            ctx,
        )
    } else {
        let dwallet_cap = self.custody.dwallet(dwallet_id);
        let approval = coordinator.approve_message(dwallet_cap, signature_algorithm, hash_scheme, message);
        coordinator.request_sign_with_partial_user_signature_and_return_id(
            verified_cap,
            approval,
            session,
            &mut ika,
            &mut sui,
            ctx,
        )
    };
    let (ika_spent, sui_spent) = (ika_before - ika.value(), sui_before - sui.value());
    event::emit(SignPaid {
        treasury_id: object::id(self),
        operator_cap_id: object::id(cap),
        sign_id,
        dwallet_id,
        presign_id,
        ika: ika_spent,
        sui: sui_spent,
        request_ref,
    });
    self.operators.spend(object::id(cap), OP_PARTIAL_SIGN, 1, ika_spent, sui_spent, ctx);
    self.give_back(ika, sui);
    sign_id
}

// === Pauser ===

/// Stops all payments. Only the administrator can resume them.
public fun pause(self: &mut Treasury, ctx: &mut TxContext) {
    self.assert_version();
    self.roles.check_pauser(ctx);
    self.set_pause(true, ctx);
}

// === Administrator: operators, prices, funds ===

/// Sends `holder` an OperatorCap that only `holder` can use. `expires_epoch` is the last epoch in which it can be used.
/// The other numbers are its limits per epoch: coins in their smallest units, and numbers of operations.
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

/// Sets the expiry and the limits of an operator. Its spending in this epoch counts against the new limits.
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

/// Sets the pauser, and the recovery holder, who may replace a lost AdminCap. The zero address leaves a role vacant. A
/// change of the recovery holder withdraws a pending offer that the previous one has made.
public fun set_roles(self: &mut Treasury, admin: &AdminCap, pauser: address, recovery: address) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.roles.set(treasury_id, pauser, recovery);
}

/// Offers the administration to an address, which must accept it. A later offer replaces an earlier one.
public fun offer_admin(self: &mut Treasury, admin: &AdminCap, to: address, ctx: &mut TxContext) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.roles.offer(treasury_id, to, ctx);
}

/// Withdraws the offer of the administration, even if the recovery holder has made it.
public fun withdraw_admin_offer(self: &mut Treasury, admin: &AdminCap) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.roles.withdraw_offer(treasury_id);
}

/// Accepts the administration that is offered to the sender. Sends a new AdminCap to the sender. The old one becomes
/// invalid.
public fun accept_admin(self: &mut Treasury, ctx: &mut TxContext) {
    self.assert_version();
    let treasury_id = object::id(self);
    roles::give(self.roles.accept(treasury_id, ctx), ctx.sender());
}

/// Offers the administration to an address because the AdminCap is lost. The sender is the recovery holder. The offer
/// can be accepted after seven epochs. The holder of the AdminCap can withdraw it until it is accepted.
public fun recover_admin(self: &mut Treasury, to: address, ctx: &mut TxContext) {
    self.assert_version();
    let treasury_id = object::id(self);
    self.roles.recover(treasury_id, to, ctx);
}

// === Administrator: capabilities ===

/// Announces that the administrator may send a dWallet's capability to `recipient` after fourteen epochs, unless its
/// owner forbids it. The announcement is then valid for fourteen epochs.
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

/// Sends a dWallet's capability to the recipient that was announced at least fourteen, and less than twenty-eight,
/// epochs ago.
public fun release_dwallet(self: &mut Treasury, admin: &AdminCap, dwallet_id: ID, ctx: &mut TxContext) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.release(&mut self.id, treasury_id, dwallet_id, ctx);
}

/// Sends a presign's capability to an address. Meant for a presign that the network has rejected, which no signature
/// can use up.
public fun release_presign(self: &mut Treasury, admin: &AdminCap, presign_id: ID, recipient: address) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.release_presign(treasury_id, presign_id, recipient);
}

/// Announces that the administrator may move the capabilities to another Treasury, of this or another package, after
/// fourteen epochs. The announcement is then valid for fourteen epochs. `successor` is the id of that Treasury as an
/// address. The call does not verify that a Treasury exists there. Users of this Treasury must check that themselves.
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

/// Sends the capabilities of these dWallets to the successor, whose administrator must take them in.
public fun move_dwallets(self: &mut Treasury, admin: &AdminCap, dwallet_ids: vector<ID>, ctx: &mut TxContext) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.move_dwallets(&mut self.id, treasury_id, dwallet_ids, ctx);
}

/// Sends the capabilities of these presigns to the successor, whose administrator must take them in.
public fun move_presigns(self: &mut Treasury, admin: &AdminCap, presign_ids: vector<ID>, ctx: &mut TxContext) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.move_presigns(treasury_id, presign_ids, ctx);
}

/// Takes in a dWallet's capability that was sent to this Treasury. Neither Ika nor the sender's package tells the
/// Treasury the curve and the owner, but both are public, in `DkgPaid` and `DWalletMoved`. The sender of a capability
/// therefore trusts the administrator to pass the right owner.
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

/// Takes in the capability of an imported key that was sent to this Treasury, as `take_in_dwallet` does.
public fun take_in_imported_key(
    self: &mut Treasury,
    admin: &AdminCap,
    sent: Receiving<ImportedKeyDWalletCap>,
    curve: u32,
    owner: address,
) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    let cap = transfer::public_receive(&mut self.id, sent);
    self.custody.take_in_imported_key(&mut self.id, treasury_id, cap, curve, owner);
}

/// Takes in a presign's capability that was sent to this Treasury.
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

/// Withdraws `count` times the ceiling of an operation, or the whole balance if that is less. Contracts cannot read
/// Ika's prices. The coordinator aborts if the coins do not cover the price. `give_back` returns the rest.
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

/// Returns `each` times `count`, or the balance if that is less. Never overflows. `count` must be at least one.
fun at_most(each: u64, count: u64, balance: u64): u64 {
    if (each > balance / count) balance else each * count
}

fun give_back(self: &mut Treasury, ika: Coin<IKA>, sui: Coin<SUI>) {
    self.ika.join(ika.into_balance());
    self.sui.join(sui.into_balance());
}

// === Tests ===
// A test cannot access an object that a transaction sends to an address, so these functions return it.

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
public fun take_in_imported_key_for_testing(
    self: &mut Treasury,
    admin: &AdminCap,
    cap: ImportedKeyDWalletCap,
    curve: u32,
    owner: address,
) {
    self.assert_admin(admin);
    let treasury_id = object::id(self);
    self.custody.take_in_imported_key(&mut self.id, treasury_id, cap, curve, owner);
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
