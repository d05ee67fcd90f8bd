/// The state of the fake coordinator: it keeps the order of Ika's checks and their abort codes, and no cryptography.
module ika_dwallet_2pc_mpc::coordinator_inner;

use ika::ika::IKA;
use ika_dwallet_2pc_mpc::sessions_manager::{Self, SessionIdentifier, SessionsManager};
use ika_dwallet_2pc_mpc::support_config::{Self, SupportConfig};
use sui::coin::Coin;
use sui::sui::SUI;
use sui::table::{Self, Table};

const EDWalletMismatch: u64 = 1;
const EDWalletInactive: u64 = 2;
const EDWalletNotExists: u64 = 3;
const ENetworkEncryptionKeyNotExist: u64 = 5;
const EMessageApprovalMismatch: u64 = 7;
const EIncorrectCap: u64 = 10;
const EUnverifiedCap: u64 = 11;
const EInvalidSource: u64 = 12;
const EMismatchCurve: u64 = 17;
const EImportedKeyDWallet: u64 = 18;
const ENotImportedKeyDWallet: u64 = 19;
const EOnlyGlobalPresignAllowed: u64 = 31;
const EGlobalPresignNotAllowed: u64 = 32;

const ECDSA: u32 = 0;
/// The last curve that has ECDSA.
const SECP256R1: u32 = 1;

// The price of a session.
const IKA_PRICE: u64 = 20;
const SUI_PRICE: u64 = 4;

public struct DWalletCap has key, store { id: UID, dwallet_id: ID }
public struct ImportedKeyDWalletCap has key, store { id: UID, dwallet_id: ID }
public struct UnverifiedPresignCap has key, store { id: UID, dwallet_id: Option<ID>, presign_id: ID }
public struct VerifiedPresignCap has key, store { id: UID, dwallet_id: Option<ID>, presign_id: ID }
public struct UnverifiedPartialUserSignatureCap has key, store { id: UID, partial_centralized_signed_message_id: ID }
public struct VerifiedPartialUserSignatureCap has key, store { id: UID, partial_centralized_signed_message_id: ID }
public struct MessageApproval has drop, store {
    dwallet_id: ID,
    signature_algorithm: u32,
    hash_scheme: u32,
    message: vector<u8>,
}
public struct ImportedKeyMessageApproval has drop, store {
    dwallet_id: ID,
    signature_algorithm: u32,
    hash_scheme: u32,
    message: vector<u8>,
}
#[allow(unused_field)]
public struct SignDuringDKGRequest { presign_id: ID }

public struct DWallet has drop, store { curve: u32, is_active: bool, is_imported_key: bool, share_id: ID }
public struct Presign has drop, store {
    curve: u32,
    signature_algorithm: u32,
    /// The only dWallet that can use it; none for a global presign.
    dwallet_id: Option<ID>,
    cap_id: ID,
    is_completed: bool,
}

/// A user's half of a signature. It holds its presign.
public struct PartialUserSignature has store {
    presign_cap: VerifiedPresignCap,
    dwallet_id: ID,
    signature_algorithm: u32,
    hash_scheme: u32,
    message: vector<u8>,
    cap_id: ID,
    is_completed: bool,
}

public struct Inner has key, store {
    id: UID,
    network_key_id: ID,
    sessions: SessionsManager,
    support: SupportConfig,
    /// The curve of each encryption key, by the address of its user.
    encryption_keys: Table<address, u32>,
    dwallets: Table<ID, DWallet>,
    presigns: Table<ID, Presign>,
    partials: Table<ID, PartialUserSignature>,
    last_partial_id: Option<ID>,
}

public(package) fun create(ctx: &mut TxContext): Inner {
    Inner {
        id: object::new(ctx),
        network_key_id: object::id_from_address(ctx.fresh_object_address()),
        sessions: sessions_manager::create(ctx),
        support: support_config::create(),
        encryption_keys: table::new(ctx),
        dwallets: table::new(ctx),
        presigns: table::new(ctx),
        partials: table::new(ctx),
        last_partial_id: option::none(),
    }
}

public fun dwallet_id(self: &DWalletCap): ID {
    self.dwallet_id
}

public fun imported_key_dwallet_id(self: &ImportedKeyDWalletCap): ID {
    self.dwallet_id
}

public(package) fun sessions(self: &mut Inner): &mut SessionsManager {
    &mut self.sessions
}

public(package) fun request_dwallet_dkg(
    self: &mut Inner,
    network_key_id: ID,
    curve: u32,
    encryption_key_address: address,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): DWalletCap {
    assert!(self.encryption_keys[encryption_key_address] == curve, EMismatchCurve);
    self.support.validate_curve(curve);
    assert!(self.network_key_id == network_key_id, ENetworkEncryptionKeyNotExist);
    let dwallet_id = object::id_from_address(ctx.fresh_object_address());
    let cap = DWalletCap { id: object::new(ctx), dwallet_id };
    let share_id = object::id_from_address(ctx.fresh_object_address());
    self.dwallets.add(dwallet_id, DWallet { curve, is_active: false, is_imported_key: false, share_id });
    self.sessions.initiate_user_session(session, IKA_PRICE, SUI_PRICE, payment_ika, payment_sui, ctx);
    cap
}

public(package) fun request_imported_key_dwallet_verification(
    self: &mut Inner,
    network_key_id: ID,
    curve: u32,
    encryption_key_address: address,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ImportedKeyDWalletCap {
    self.support.validate_curve(curve);
    assert!(self.network_key_id == network_key_id, ENetworkEncryptionKeyNotExist);
    // Ika compares no curves here. The network rejects a key of another curve.
    let _ = &self.encryption_keys[encryption_key_address];
    let dwallet_id = object::id_from_address(ctx.fresh_object_address());
    let cap = ImportedKeyDWalletCap { id: object::new(ctx), dwallet_id };
    let share_id = object::id_from_address(ctx.fresh_object_address());
    self.dwallets.add(dwallet_id, DWallet { curve, is_active: false, is_imported_key: true, share_id });
    self.sessions.initiate_user_session(session, IKA_PRICE, SUI_PRICE, payment_ika, payment_sui, ctx);
    cap
}

public(package) fun request_presign(
    self: &mut Inner,
    dwallet_id: ID,
    signature_algorithm: u32,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): UnverifiedPresignCap {
    let dwallet = &self.dwallets[dwallet_id];
    assert!(dwallet.is_active, EDWalletInactive);
    let curve = dwallet.curve;
    self.support.validate_algorithm(curve, signature_algorithm);
    assert!(!uses_global_presigns(dwallet, signature_algorithm), EOnlyGlobalPresignAllowed);
    let presign_id = object::id_from_address(ctx.fresh_object_address());
    let dwallet_id = option::some(dwallet_id);
    let cap = UnverifiedPresignCap { id: object::new(ctx), dwallet_id, presign_id };
    let presign = Presign { curve, signature_algorithm, dwallet_id, cap_id: object::id(&cap), is_completed: false };
    self.presigns.add(presign_id, presign);
    self.sessions.initiate_user_session(session, IKA_PRICE, SUI_PRICE, payment_ika, payment_sui, ctx);
    cap
}

public(package) fun request_global_presign(
    self: &mut Inner,
    network_key_id: ID,
    curve: u32,
    signature_algorithm: u32,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): UnverifiedPresignCap {
    self.support.validate_algorithm(curve, signature_algorithm);
    assert!(self.network_key_id == network_key_id, ENetworkEncryptionKeyNotExist);
    let presign_id = object::id_from_address(ctx.fresh_object_address());
    let dwallet_id = option::none();
    let cap = UnverifiedPresignCap { id: object::new(ctx), dwallet_id, presign_id };
    let presign = Presign { curve, signature_algorithm, dwallet_id, cap_id: object::id(&cap), is_completed: false };
    self.presigns.add(presign_id, presign);
    self.sessions.initiate_user_session(session, IKA_PRICE, SUI_PRICE, payment_ika, payment_sui, ctx);
    cap
}

public(package) fun verify_presign_cap(
    self: &mut Inner,
    cap: UnverifiedPresignCap,
    ctx: &mut TxContext,
): VerifiedPresignCap {
    let UnverifiedPresignCap { id, dwallet_id, presign_id } = cap;
    let presign = &mut self.presigns[presign_id];
    assert!(presign.cap_id == id.to_inner(), EIncorrectCap);
    assert!(presign.is_completed, EUnverifiedCap);
    id.delete();
    let verified = VerifiedPresignCap { id: object::new(ctx), dwallet_id, presign_id };
    presign.cap_id = object::id(&verified);
    verified
}

public(package) fun approve_message(
    self: &Inner,
    cap: &DWalletCap,
    signature_algorithm: u32,
    hash_scheme: u32,
    message: vector<u8>,
): MessageApproval {
    let is_imported_key = self.is_imported_key(cap.dwallet_id, signature_algorithm, hash_scheme);
    assert!(!is_imported_key, EImportedKeyDWallet);
    MessageApproval { dwallet_id: cap.dwallet_id, signature_algorithm, hash_scheme, message }
}

public(package) fun approve_imported_key_message(
    self: &Inner,
    cap: &ImportedKeyDWalletCap,
    signature_algorithm: u32,
    hash_scheme: u32,
    message: vector<u8>,
): ImportedKeyMessageApproval {
    let is_imported_key = self.is_imported_key(cap.dwallet_id, signature_algorithm, hash_scheme);
    assert!(is_imported_key, ENotImportedKeyDWallet);
    ImportedKeyMessageApproval { dwallet_id: cap.dwallet_id, signature_algorithm, hash_scheme, message }
}

public(package) fun request_sign(
    self: &mut Inner,
    cap: VerifiedPresignCap,
    approval: MessageApproval,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ID {
    let MessageApproval { dwallet_id, signature_algorithm, .. } = approval;
    let sign_id = self.sign(cap, dwallet_id, signature_algorithm, session, payment_ika, payment_sui, ctx);
    assert!(!self.dwallets[dwallet_id].is_imported_key, EImportedKeyDWallet);
    sign_id
}

public(package) fun request_imported_key_sign(
    self: &mut Inner,
    cap: VerifiedPresignCap,
    approval: ImportedKeyMessageApproval,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ID {
    let ImportedKeyMessageApproval { dwallet_id, signature_algorithm, .. } = approval;
    let sign_id = self.sign(cap, dwallet_id, signature_algorithm, session, payment_ika, payment_sui, ctx);
    assert!(self.dwallets[dwallet_id].is_imported_key, ENotImportedKeyDWallet);
    sign_id
}

public(package) fun request_future_sign(
    self: &mut Inner,
    dwallet_id: ID,
    presign_cap: VerifiedPresignCap,
    message: vector<u8>,
    hash_scheme: u32,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): UnverifiedPartialUserSignatureCap {
    let dwallet = &self.dwallets[dwallet_id];
    assert!(dwallet.is_active, EDWalletInactive);
    let presign = &self.presigns[presign_cap.presign_id];
    assert!(dwallet.curve == presign.curve, EDWalletMismatch);
    let signature_algorithm = presign.signature_algorithm;
    check_scope(dwallet, dwallet_id, signature_algorithm, presign.dwallet_id);
    self.support.validate_hash(dwallet.curve, signature_algorithm, hash_scheme);
    self.sessions.initiate_user_session(session, IKA_PRICE, SUI_PRICE, payment_ika, payment_sui, ctx);
    let partial_id = object::id_from_address(ctx.fresh_object_address());
    let cap = UnverifiedPartialUserSignatureCap {
        id: object::new(ctx),
        partial_centralized_signed_message_id: partial_id,
    };
    let cap_id = object::id(&cap);
    let partial = PartialUserSignature {
        presign_cap,
        dwallet_id,
        signature_algorithm,
        hash_scheme,
        message,
        cap_id,
        is_completed: false,
    };
    self.partials.add(partial_id, partial);
    self.last_partial_id = option::some(partial_id);
    cap
}

public(package) fun verify_partial_user_signature_cap(
    self: &mut Inner,
    cap: UnverifiedPartialUserSignatureCap,
    ctx: &mut TxContext,
): VerifiedPartialUserSignatureCap {
    let UnverifiedPartialUserSignatureCap { id, partial_centralized_signed_message_id } = cap;
    let partial = &mut self.partials[partial_centralized_signed_message_id];
    assert!(partial.cap_id == id.to_inner(), EIncorrectCap);
    assert!(partial.is_completed, EUnverifiedCap);
    id.delete();
    let verified = VerifiedPartialUserSignatureCap { id: object::new(ctx), partial_centralized_signed_message_id };
    partial.cap_id = object::id(&verified);
    verified
}

public(package) fun request_sign_with_partial(
    self: &mut Inner,
    cap: VerifiedPartialUserSignatureCap,
    approval: MessageApproval,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ID {
    let MessageApproval { dwallet_id, signature_algorithm, hash_scheme, message } = approval;
    let presign_cap = self.take_partial(cap, dwallet_id, signature_algorithm, hash_scheme, message);
    let sign_id = self.sign(presign_cap, dwallet_id, signature_algorithm, session, payment_ika, payment_sui, ctx);
    assert!(!self.dwallets[dwallet_id].is_imported_key, EImportedKeyDWallet);
    sign_id
}

public(package) fun request_imported_key_sign_with_partial(
    self: &mut Inner,
    cap: VerifiedPartialUserSignatureCap,
    approval: ImportedKeyMessageApproval,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ID {
    let ImportedKeyMessageApproval { dwallet_id, signature_algorithm, hash_scheme, message } = approval;
    let presign_cap = self.take_partial(cap, dwallet_id, signature_algorithm, hash_scheme, message);
    let sign_id = self.sign(presign_cap, dwallet_id, signature_algorithm, session, payment_ika, payment_sui, ctx);
    assert!(self.dwallets[dwallet_id].is_imported_key, ENotImportedKeyDWallet);
    sign_id
}

/// Takes the half's presign, if the approval is for exactly what the user has half signed.
fun take_partial(
    self: &mut Inner,
    cap: VerifiedPartialUserSignatureCap,
    approved_dwallet_id: ID,
    approved_algorithm: u32,
    approved_hash: u32,
    approved_message: vector<u8>,
): VerifiedPresignCap {
    let VerifiedPartialUserSignatureCap { id, partial_centralized_signed_message_id } = cap;
    let PartialUserSignature {
        presign_cap,
        dwallet_id,
        signature_algorithm,
        hash_scheme,
        message,
        cap_id,
        is_completed,
    } = self.partials.remove(partial_centralized_signed_message_id);
    assert!(
        dwallet_id == approved_dwallet_id && signature_algorithm == approved_algorithm
            && hash_scheme == approved_hash && message == approved_message,
        EMessageApprovalMismatch,
    );
    assert!(cap_id == id.to_inner() && is_completed, EIncorrectCap);
    id.delete();
    presign_cap
}

/// Checks that the dWallet is active and has the algorithm and the hash.
fun is_imported_key(self: &Inner, dwallet_id: ID, signature_algorithm: u32, hash_scheme: u32): bool {
    let dwallet = &self.dwallets[dwallet_id];
    assert!(dwallet.is_active, EDWalletInactive);
    self.support.validate_hash(dwallet.curve, signature_algorithm, hash_scheme);
    dwallet.is_imported_key
}

fun sign(
    self: &mut Inner,
    cap: VerifiedPresignCap,
    dwallet_id: ID,
    approved_algorithm: u32,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ID {
    let VerifiedPresignCap { id, dwallet_id: _, presign_id } = cap;
    id.delete();
    let Presign { curve, signature_algorithm, dwallet_id: owner, .. } = self.presigns.remove(presign_id);
    let dwallet = &self.dwallets[dwallet_id];
    assert!(dwallet.curve == curve, EDWalletMismatch);
    assert!(approved_algorithm == signature_algorithm, EMessageApprovalMismatch);
    check_scope(dwallet, dwallet_id, signature_algorithm, owner);
    self.sessions.initiate_user_session(session, IKA_PRICE, SUI_PRICE, payment_ika, payment_sui, ctx);
    object::id_from_address(ctx.fresh_object_address())
}

fun check_scope(dwallet: &DWallet, dwallet_id: ID, signature_algorithm: u32, owner: Option<ID>) {
    if (uses_global_presigns(dwallet, signature_algorithm)) assert!(owner.is_none(), EOnlyGlobalPresignAllowed)
    else assert!(owner == option::some(dwallet_id), EGlobalPresignNotAllowed);
}

/// All algorithms use global presigns, except ECDSA of imported keys.
fun uses_global_presigns(dwallet: &DWallet, signature_algorithm: u32): bool {
    !(dwallet.is_imported_key && dwallet.curve <= SECP256R1 && signature_algorithm == ECDSA)
}

public(package) fun request_re_encrypt(
    self: &mut Inner,
    dwallet_id: ID,
    recipient: address,
    source_share_id: ID,
    session: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
) {
    let _curve = self.encryption_keys[recipient];
    assert!(self.dwallets.contains(dwallet_id), EDWalletNotExists);
    let dwallet = &self.dwallets[dwallet_id];
    assert!(dwallet.is_active, EDWalletInactive);
    assert!(dwallet.share_id == source_share_id, EInvalidSource);
    self.sessions.initiate_user_session(session, IKA_PRICE, SUI_PRICE, payment_ika, payment_sui, ctx);
}

#[test_only]
public fun price_for_testing(): (u64, u64) {
    (IKA_PRICE, SUI_PRICE)
}

#[test_only]
public(package) fun network_key_id(self: &Inner): ID {
    self.network_key_id
}

#[test_only]
public(package) fun register_encryption_key(self: &mut Inner, user: address, curve: u32) {
    self.encryption_keys.add(user, curve);
}

#[test_only]
public(package) fun complete_presign(self: &mut Inner, presign_id: ID) {
    self.presigns[presign_id].is_completed = true;
}

#[test_only]
public(package) fun complete_last_partial(self: &mut Inner) {
    let partial_id = *self.last_partial_id.borrow();
    self.partials[partial_id].is_completed = true;
}

#[test_only]
public(package) fun activate_dwallet(self: &mut Inner, dwallet_id: ID) {
    self.dwallets[dwallet_id].is_active = true;
}

#[test_only]
public(package) fun share_id(self: &Inner, dwallet_id: ID): ID {
    self.dwallets[dwallet_id].share_id
}

#[test_only]
public(package) fun pause_curve(self: &mut Inner, curve: u32) {
    self.support.set_paused_curves(vector[curve]);
}

#[test_only]
public(package) fun dwallet_cap(_self: &Inner, dwallet_id: ID, ctx: &mut TxContext): DWalletCap {
    DWalletCap { id: object::new(ctx), dwallet_id }
}

#[test_only]
public(package) fun imported_key_cap(_self: &Inner, dwallet_id: ID, ctx: &mut TxContext): ImportedKeyDWalletCap {
    ImportedKeyDWalletCap { id: object::new(ctx), dwallet_id }
}

#[test_only]
public(package) fun presign_cap(self: &mut Inner, presign_id: ID, ctx: &mut TxContext): UnverifiedPresignCap {
    let dwallet_id = self.presigns[presign_id].dwallet_id;
    let cap = UnverifiedPresignCap { id: object::new(ctx), dwallet_id, presign_id };
    self.presigns[presign_id].cap_id = object::id(&cap);
    cap
}
