/// The calls of Ika's coordinator that the Treasury makes, with the coordinator's own signatures.
module ika_dwallet_2pc_mpc::coordinator;

use ika::ika::IKA;
use ika_dwallet_2pc_mpc::coordinator_inner::{
    Self,
    DWalletCap,
    ImportedKeyDWalletCap,
    ImportedKeyMessageApproval,
    Inner,
    MessageApproval,
    SignDuringDKGRequest,
    UnverifiedPartialUserSignatureCap,
    UnverifiedPresignCap,
    VerifiedPartialUserSignatureCap,
    VerifiedPresignCap,
};
use ika_dwallet_2pc_mpc::sessions_manager::SessionIdentifier;
use sui::coin::Coin;
use sui::sui::SUI;

const EWrongInnerVersion: u64 = 0;
const VERSION: u64 = 2;

public struct DWalletCoordinator has key { id: UID, version: u64, inner: Inner }

public fun register_session_identifier(
    self: &mut DWalletCoordinator,
    bytes: vector<u8>,
    ctx: &mut TxContext,
): SessionIdentifier {
    self.inner().sessions().register_session_identifier(bytes, ctx)
}

public fun request_dwallet_dkg(
    self: &mut DWalletCoordinator,
    dwallet_network_encryption_key_id: ID,
    curve: u32,
    _centralized_public_key_share_and_proof: vector<u8>,
    _encrypted_centralized_secret_share_and_proof: vector<u8>,
    encryption_key_address: address,
    _user_public_output: vector<u8>,
    _signer_public_key: vector<u8>,
    sign_during_dkg_request: Option<SignDuringDKGRequest>,
    session_identifier: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): (DWalletCap, Option<ID>) {
    sign_during_dkg_request.destroy_none();
    let cap = self
        .inner()
        .request_dwallet_dkg(
            dwallet_network_encryption_key_id,
            curve,
            encryption_key_address,
            session_identifier,
            payment_ika,
            payment_sui,
            ctx,
        );
    (cap, option::none())
}

public fun request_imported_key_dwallet_verification(
    self: &mut DWalletCoordinator,
    dwallet_network_encryption_key_id: ID,
    curve: u32,
    _centralized_party_message: vector<u8>,
    _encrypted_centralized_secret_share_and_proof: vector<u8>,
    encryption_key_address: address,
    _user_public_output: vector<u8>,
    _signer_public_key: vector<u8>,
    session_identifier: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ImportedKeyDWalletCap {
    self
        .inner()
        .request_imported_key_dwallet_verification(
            dwallet_network_encryption_key_id,
            curve,
            encryption_key_address,
            session_identifier,
            payment_ika,
            payment_sui,
            ctx,
        )
}

public fun request_presign(
    self: &mut DWalletCoordinator,
    dwallet_id: ID,
    signature_algorithm: u32,
    session_identifier: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): UnverifiedPresignCap {
    self
        .inner()
        .request_presign(dwallet_id, signature_algorithm, session_identifier, payment_ika, payment_sui, ctx)
}

public fun request_global_presign(
    self: &mut DWalletCoordinator,
    dwallet_network_encryption_key_id: ID,
    curve: u32,
    signature_algorithm: u32,
    session_identifier: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): UnverifiedPresignCap {
    self
        .inner()
        .request_global_presign(
            dwallet_network_encryption_key_id,
            curve,
            signature_algorithm,
            session_identifier,
            payment_ika,
            payment_sui,
            ctx,
        )
}

public fun verify_presign_cap(
    self: &mut DWalletCoordinator,
    cap: UnverifiedPresignCap,
    ctx: &mut TxContext,
): VerifiedPresignCap {
    self.inner().verify_presign_cap(cap, ctx)
}

public fun approve_message(
    self: &mut DWalletCoordinator,
    dwallet_cap: &DWalletCap,
    signature_algorithm: u32,
    hash_scheme: u32,
    message: vector<u8>,
): MessageApproval {
    self.inner().approve_message(dwallet_cap, signature_algorithm, hash_scheme, message)
}

public fun request_sign_and_return_id(
    self: &mut DWalletCoordinator,
    presign_cap: VerifiedPresignCap,
    message_approval: MessageApproval,
    _message_centralized_signature: vector<u8>,
    session_identifier: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ID {
    self
        .inner()
        .request_sign(presign_cap, message_approval, session_identifier, payment_ika, payment_sui, ctx)
}

public fun approve_imported_key_message(
    self: &mut DWalletCoordinator,
    imported_key_dwallet_cap: &ImportedKeyDWalletCap,
    signature_algorithm: u32,
    hash_scheme: u32,
    message: vector<u8>,
): ImportedKeyMessageApproval {
    self.inner().approve_imported_key_message(imported_key_dwallet_cap, signature_algorithm, hash_scheme, message)
}

public fun request_imported_key_sign_and_return_id(
    self: &mut DWalletCoordinator,
    presign_cap: VerifiedPresignCap,
    message_approval: ImportedKeyMessageApproval,
    _message_centralized_signature: vector<u8>,
    session_identifier: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ID {
    self
        .inner()
        .request_imported_key_sign(presign_cap, message_approval, session_identifier, payment_ika, payment_sui, ctx)
}

public fun request_future_sign(
    self: &mut DWalletCoordinator,
    dwallet_id: ID,
    presign_cap: VerifiedPresignCap,
    message: vector<u8>,
    hash_scheme: u32,
    _message_centralized_signature: vector<u8>,
    session_identifier: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): UnverifiedPartialUserSignatureCap {
    self
        .inner()
        .request_future_sign(
            dwallet_id,
            presign_cap,
            message,
            hash_scheme,
            session_identifier,
            payment_ika,
            payment_sui,
            ctx,
        )
}

public fun verify_partial_user_signature_cap(
    self: &mut DWalletCoordinator,
    cap: UnverifiedPartialUserSignatureCap,
    ctx: &mut TxContext,
): VerifiedPartialUserSignatureCap {
    self.inner().verify_partial_user_signature_cap(cap, ctx)
}

public fun request_sign_with_partial_user_signature_and_return_id(
    self: &mut DWalletCoordinator,
    partial_user_signature_cap: VerifiedPartialUserSignatureCap,
    message_approval: MessageApproval,
    session_identifier: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ID {
    self
        .inner()
        .request_sign_with_partial(
            partial_user_signature_cap,
            message_approval,
            session_identifier,
            payment_ika,
            payment_sui,
            ctx,
        )
}

public fun request_imported_key_sign_with_partial_user_signature_and_return_id(
    self: &mut DWalletCoordinator,
    partial_user_signature_cap: VerifiedPartialUserSignatureCap,
    message_approval: ImportedKeyMessageApproval,
    session_identifier: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
): ID {
    self
        .inner()
        .request_imported_key_sign_with_partial(
            partial_user_signature_cap,
            message_approval,
            session_identifier,
            payment_ika,
            payment_sui,
            ctx,
        )
}

public fun request_re_encrypt_user_share_for(
    self: &mut DWalletCoordinator,
    dwallet_id: ID,
    destination_encryption_key_address: address,
    _encrypted_centralized_secret_share_and_proof: vector<u8>,
    source_encrypted_user_secret_key_share_id: ID,
    session_identifier: SessionIdentifier,
    payment_ika: &mut Coin<IKA>,
    payment_sui: &mut Coin<SUI>,
    ctx: &mut TxContext,
) {
    self
        .inner()
        .request_re_encrypt(
            dwallet_id,
            destination_encryption_key_address,
            source_encrypted_user_secret_key_share_id,
            session_identifier,
            payment_ika,
            payment_sui,
            ctx,
        )
}

fun inner(self: &mut DWalletCoordinator): &mut Inner {
    assert!(self.version == VERSION, EWrongInnerVersion);
    &mut self.inner
}

#[test_only]
public fun new_for_testing(ctx: &mut TxContext): DWalletCoordinator {
    DWalletCoordinator { id: object::new(ctx), version: VERSION, inner: coordinator_inner::create(ctx) }
}

#[test_only]
public fun share_for_testing(self: DWalletCoordinator) {
    transfer::share_object(self);
}

#[test_only]
public fun network_key_id_for_testing(self: &DWalletCoordinator): ID {
    self.inner.network_key_id()
}

#[test_only]
public fun register_for_testing(self: &mut DWalletCoordinator, user: address, curve: u32) {
    self.inner.register_encryption_key(user, curve);
}

#[test_only]
public fun complete_presign_for_testing(self: &mut DWalletCoordinator, presign_id: ID) {
    self.inner.complete_presign(presign_id);
}

/// Verifies the last half that was requested, as the network does.
#[test_only]
public fun complete_half_for_testing(self: &mut DWalletCoordinator) {
    self.inner.complete_last_partial();
}

#[test_only]
public fun activate_dwallet_for_testing(self: &mut DWalletCoordinator, dwallet_id: ID) {
    self.inner.activate_dwallet(dwallet_id);
}

/// The dWallet's share that its user has accepted.
#[test_only]
public fun share_id_for_testing(self: &DWalletCoordinator, dwallet_id: ID): ID {
    self.inner.share_id(dwallet_id)
}

#[test_only]
public fun pause_curve_for_testing(self: &mut DWalletCoordinator, curve: u32) {
    self.inner.pause_curve(curve);
}

/// Moves the coordinator to the next version of Ika's package.
#[test_only]
public fun move_on_for_testing(self: &mut DWalletCoordinator) {
    self.version = self.version + 1;
}

#[test_only]
public fun dwallet_cap_for_testing(self: &DWalletCoordinator, dwallet_id: ID, ctx: &mut TxContext): DWalletCap {
    self.inner.dwallet_cap(dwallet_id, ctx)
}

#[test_only]
public fun imported_key_cap_for_testing(
    self: &DWalletCoordinator,
    dwallet_id: ID,
    ctx: &mut TxContext,
): ImportedKeyDWalletCap {
    self.inner.imported_key_cap(dwallet_id, ctx)
}

#[test_only]
public fun presign_cap_for_testing(
    self: &mut DWalletCoordinator,
    presign_id: ID,
    ctx: &mut TxContext,
): UnverifiedPresignCap {
    self.inner.presign_cap(presign_id, ctx)
}
