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
const ENetworkEncryptionKeyNotExist: u64 = 5;
const EMessageApprovalMismatch: u64 = 7;
const EIncorrectCap: u64 = 10;
const EUnverifiedCap: u64 = 11;
const EMismatchCurve: u64 = 17;

// The price of a session.
const IKA_PRICE: u64 = 20;
const SUI_PRICE: u64 = 4;

public struct DWalletCap has key, store { id: UID, dwallet_id: ID }
public struct UnverifiedPresignCap has key, store { id: UID, dwallet_id: Option<ID>, presign_id: ID }
public struct VerifiedPresignCap has key, store { id: UID, dwallet_id: Option<ID>, presign_id: ID }
public struct MessageApproval has drop, store {
    dwallet_id: ID,
    signature_algorithm: u32,
    hash_scheme: u32,
    message: vector<u8>,
}
#[allow(unused_field)]
public struct SignDuringDKGRequest { presign_id: ID }

public struct DWallet has drop, store { curve: u32, is_active: bool }
public struct Presign has drop, store { curve: u32, signature_algorithm: u32, cap_id: ID, is_completed: bool }

public struct Inner has key, store {
    id: UID,
    network_key_id: ID,
    sessions: SessionsManager,
    support: SupportConfig,
    /// The curve of each encryption key, by the address of its user.
    encryption_keys: Table<address, u32>,
    dwallets: Table<ID, DWallet>,
    presigns: Table<ID, Presign>,
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
    }
}

public fun dwallet_id(self: &DWalletCap): ID {
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
    self.dwallets.add(dwallet_id, DWallet { curve, is_active: false });
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
    let cap = UnverifiedPresignCap { id: object::new(ctx), dwallet_id: option::none(), presign_id };
    let presign = Presign { curve, signature_algorithm, cap_id: object::id(&cap), is_completed: false };
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
    let dwallet = &self.dwallets[cap.dwallet_id];
    assert!(dwallet.is_active, EDWalletInactive);
    self.support.validate_hash(dwallet.curve, signature_algorithm, hash_scheme);
    MessageApproval { dwallet_id: cap.dwallet_id, signature_algorithm, hash_scheme, message }
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
    let VerifiedPresignCap { id, dwallet_id: _, presign_id } = cap;
    id.delete();
    let Presign { curve, signature_algorithm, .. } = self.presigns.remove(presign_id);
    assert!(self.dwallets[approval.dwallet_id].curve == curve, EDWalletMismatch);
    assert!(approval.signature_algorithm == signature_algorithm, EMessageApprovalMismatch);
    self.sessions.initiate_user_session(session, IKA_PRICE, SUI_PRICE, payment_ika, payment_sui, ctx);
    object::id_from_address(ctx.fresh_object_address())
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
public(package) fun activate_dwallet(self: &mut Inner, dwallet_id: ID) {
    self.dwallets[dwallet_id].is_active = true;
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
public(package) fun presign_cap(self: &mut Inner, presign_id: ID, ctx: &mut TxContext): UnverifiedPresignCap {
    let cap = UnverifiedPresignCap { id: object::new(ctx), dwallet_id: option::none(), presign_id };
    self.presigns[presign_id].cap_id = object::id(&cap);
    cap
}
