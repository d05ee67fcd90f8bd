/// The capabilities that the Treasury holds, and the ways in which they leave it.
///
/// The owner of a dWallet can take out its capability at any time, with a signature that anyone may submit. The
/// administrator can release it to an address, or move it to a successor Treasury, but only in a window of 14 epochs
/// that opens 14 epochs after an event announces it. The owner can forbid both permanently. Presign capabilities belong
/// to the operator of the service, because a signature also needs the user's share.
module treasury::custody;

use ika_dwallet_2pc_mpc::coordinator_inner::{DWalletCap, UnverifiedPresignCap};
use sui::bcs;
use sui::event;
use sui::object_table::{Self, ObjectTable};
use sui::table::{Self, Table};
use treasury::consent;

/// The number of epochs between an announcement and the first epoch in which the administrator may act on it. An epoch
/// of Sui takes about a day.
const DELAY: u64 = 14;
/// The number of epochs in which the administrator may then act on it. Announcements expire so that the administrator
/// cannot act on one that users have long forgotten.
const WINDOW: u64 = 14;
/// The maximum number of releases that are announced at the same time. The Treasury object itself stores the list.
const MAX_ANNOUNCED: u64 = 64;

/// The Treasury holds no capability for this dWallet.
const EUnknownDWallet: u64 = 1;
/// The Treasury holds no capability for this presign.
const EUnknownPresign: u64 = 2;
/// The owner of the dWallet has forbidden this.
const ERefused: u64 = 3;
/// No such release or successor is announced.
const ENotAnnounced: u64 = 4;
/// A release of this dWallet, or a successor, is already announced. Withdraw it first.
const EAnnounced: u64 = 5;
/// The delay has not passed.
const ETooEarly: u64 = 6;
/// The signature is not the owner's, or signs another message.
const EBadConsent: u64 = 7;
/// The last epoch of the consent has passed.
const EExpired: u64 = 8;
/// The consent's nonce is not the dWallet's next one: the consent was already used, or an earlier one is missing.
const EWrongNonce: u64 = 9;
/// At most 64 releases are announced at the same time.
const ETooManyAnnounced: u64 = 10;
/// The announcement has expired. Withdraw it and announce again.
const ETooLate: u64 = 11;

public struct Custody has store {
    /// By dWallet id.
    dwallet_caps: ObjectTable<ID, DWalletCap>,
    /// By presign id.
    presign_caps: ObjectTable<ID, UnverifiedPresignCap>,
    /// The dWallets whose capabilities the Treasury holds.
    dwallets: Table<ID, DWallet>,
    /// The number of consents that the Treasury has used for each dWallet. An entry stays when the dWallet leaves, so
    /// that a used consent cannot be replayed if the dWallet comes back.
    nonces: Table<ID, u64>,
    /// The dWallets whose release is announced.
    announced: vector<ID>,
    /// The announced successor Treasury.
    successor: Option<Announcement>,
}

public struct DWallet has copy, drop, store {
    /// Selects the price ceiling of the dWallet's signatures.
    curve: u32,
    /// The address of the user's encryption key.
    owner: address,
    /// Whether the owner has forbidden the administrator to hand out the capability. Ends when the capability leaves.
    is_refused: bool,
    release: Option<Announcement>,
}

/// The announced recipient, and the first epoch in which the administrator may send to it.
public struct Announcement has copy, drop, store {
    to: address,
    from_epoch: u64,
}

/// The owner has taken out the capability.
public struct DWalletLeft has copy, drop {
    treasury_id: ID,
    dwallet_id: ID,
    dwallet_cap_id: ID,
    owner: address,
    recipient: address,
}

public struct ReleaseRefused has copy, drop { treasury_id: ID, dwallet_id: ID, owner: address }

public struct ReleaseAnnounced has copy, drop {
    treasury_id: ID,
    dwallet_id: ID,
    owner: address,
    recipient: address,
    from_epoch: u64,
}

public struct ReleaseWithdrawn has copy, drop { treasury_id: ID, dwallet_id: ID }

/// The administrator has released the capability to the announced recipient.
public struct DWalletReleased has copy, drop {
    treasury_id: ID,
    dwallet_id: ID,
    dwallet_cap_id: ID,
    owner: address,
    recipient: address,
}

public struct PresignReleased has copy, drop { treasury_id: ID, presign_id: ID, presign_cap_id: ID, recipient: address }

public struct SuccessorAnnounced has copy, drop { treasury_id: ID, successor: address, from_epoch: u64 }

public struct SuccessorWithdrawn has copy, drop { treasury_id: ID }

/// The capability has been sent to the successor, whose administrator must take it in.
public struct DWalletMoved has copy, drop {
    treasury_id: ID,
    dwallet_id: ID,
    dwallet_cap_id: ID,
    curve: u32,
    owner: address,
    successor: address,
}

public struct PresignMoved has copy, drop { treasury_id: ID, presign_id: ID, presign_cap_id: ID, successor: address }

/// The Treasury has taken in a capability that was sent to it.
public struct DWalletTakenIn has copy, drop {
    treasury_id: ID,
    dwallet_id: ID,
    dwallet_cap_id: ID,
    curve: u32,
    owner: address,
}

public struct PresignTakenIn has copy, drop { treasury_id: ID, presign_id: ID, presign_cap_id: ID }

public(package) fun empty(ctx: &mut TxContext): Custody {
    Custody {
        dwallet_caps: object_table::new(ctx),
        presign_caps: object_table::new(ctx),
        dwallets: table::new(ctx),
        nonces: table::new(ctx),
        announced: vector[],
        successor: option::none(),
    }
}

// === Keeping ===

public(package) fun has_dwallet(self: &Custody, dwallet_id: ID): bool {
    self.dwallet_caps.contains(dwallet_id)
}

public(package) fun has_presign(self: &Custody, presign_id: ID): bool {
    self.presign_caps.contains(presign_id)
}

/// Returns the dWallet's curve and capability.
public(package) fun dwallet(self: &Custody, dwallet_id: ID): (u32, &DWalletCap) {
    assert!(self.has_dwallet(dwallet_id), EUnknownDWallet);
    (self.dwallets[dwallet_id].curve, &self.dwallet_caps[dwallet_id])
}

public(package) fun keep_dwallet(self: &mut Custody, cap: DWalletCap, curve: u32, owner: address) {
    let dwallet_id = cap.dwallet_id();
    self.dwallet_caps.add(dwallet_id, cap);
    self.dwallets.add(dwallet_id, DWallet { curve, owner, is_refused: false, release: option::none() });
}

/// Stores a presign's capability, and returns the presign's id.
public(package) fun keep_presign(self: &mut Custody, cap: UnverifiedPresignCap): ID {
    let presign_id = presign_id_of(&cap);
    self.presign_caps.add(presign_id, cap);
    presign_id
}

public(package) fun take_presign(self: &mut Custody, presign_id: ID): UnverifiedPresignCap {
    assert!(self.has_presign(presign_id), EUnknownPresign);
    self.presign_caps.remove(presign_id)
}

// === The owner ===

/// Sends the dWallet's capability to the recipient in the owner's consent.
public(package) fun leave(
    self: &mut Custody,
    treasury_id: ID,
    dwallet_id: ID,
    chain: vector<u8>,
    recipient: address,
    nonce: u64,
    expires_epoch: u64,
    public_key: vector<u8>,
    signature: vector<u8>,
    ctx: &TxContext,
) {
    let consent = consent::to_leave(chain, treasury_id, dwallet_id, recipient, nonce, expires_epoch);
    self.use_consent(dwallet_id, &consent, public_key, signature, ctx);
    let (cap, DWallet { owner, .. }) = self.take_dwallet(dwallet_id);
    let dwallet_cap_id = object::id(&cap);
    transfer::public_transfer(cap, recipient);
    event::emit(DWalletLeft { treasury_id, dwallet_id, dwallet_cap_id, owner, recipient });
}

/// Permanently forbids the administrator from releasing or moving the dWallet's capability. The owner can still leave.
/// If the capability then comes back, the owner must forbid it again.
public(package) fun refuse(
    self: &mut Custody,
    treasury_id: ID,
    dwallet_id: ID,
    chain: vector<u8>,
    nonce: u64,
    expires_epoch: u64,
    public_key: vector<u8>,
    signature: vector<u8>,
    ctx: &TxContext,
) {
    let consent = consent::to_refuse(chain, treasury_id, dwallet_id, nonce, expires_epoch);
    self.use_consent(dwallet_id, &consent, public_key, signature, ctx);
    let dwallet = &mut self.dwallets[dwallet_id];
    dwallet.is_refused = true;
    dwallet.release = option::none();
    event::emit(ReleaseRefused { treasury_id, dwallet_id, owner: dwallet.owner });
    self.forget_announced(dwallet_id);
}

// === The administrator ===

public(package) fun announce_release(
    self: &mut Custody,
    treasury_id: ID,
    dwallet_id: ID,
    recipient: address,
    ctx: &TxContext,
) {
    assert!(self.has_dwallet(dwallet_id), EUnknownDWallet);
    let dwallet = &mut self.dwallets[dwallet_id];
    assert!(!dwallet.is_refused, ERefused);
    assert!(dwallet.release.is_none(), EAnnounced);
    assert!(self.announced.length() < MAX_ANNOUNCED, ETooManyAnnounced);
    self.announced.push_back(dwallet_id);
    let from_epoch = ctx.epoch() + DELAY;
    dwallet.release = option::some(Announcement { to: recipient, from_epoch });
    event::emit(ReleaseAnnounced { treasury_id, dwallet_id, owner: dwallet.owner, recipient, from_epoch });
}

public(package) fun withdraw_release(self: &mut Custody, treasury_id: ID, dwallet_id: ID) {
    assert!(self.has_dwallet(dwallet_id), EUnknownDWallet);
    let dwallet = &mut self.dwallets[dwallet_id];
    assert!(dwallet.release.is_some(), ENotAnnounced);
    dwallet.release = option::none();
    self.forget_announced(dwallet_id);
    event::emit(ReleaseWithdrawn { treasury_id, dwallet_id });
}

/// Sends the dWallet's capability to the announced recipient.
public(package) fun release(self: &mut Custody, treasury_id: ID, dwallet_id: ID, ctx: &TxContext) {
    assert!(self.has_dwallet(dwallet_id), EUnknownDWallet);
    let recipient = due(&self.dwallets[dwallet_id].release, ctx);
    let (cap, DWallet { owner, .. }) = self.take_dwallet(dwallet_id);
    let dwallet_cap_id = object::id(&cap);
    transfer::public_transfer(cap, recipient);
    event::emit(DWalletReleased { treasury_id, dwallet_id, dwallet_cap_id, owner, recipient });
}

/// Sends a presign's capability to an address. Meant for a presign that the network has rejected, which no signature
/// can use up.
public(package) fun release_presign(self: &mut Custody, treasury_id: ID, presign_id: ID, recipient: address) {
    let cap = self.take_presign(presign_id);
    let presign_cap_id = object::id(&cap);
    transfer::public_transfer(cap, recipient);
    event::emit(PresignReleased { treasury_id, presign_id, presign_cap_id, recipient });
}

public(package) fun announce_successor(self: &mut Custody, treasury_id: ID, successor: address, ctx: &TxContext) {
    assert!(self.successor.is_none(), EAnnounced);
    let from_epoch = ctx.epoch() + DELAY;
    self.successor = option::some(Announcement { to: successor, from_epoch });
    event::emit(SuccessorAnnounced { treasury_id, successor, from_epoch });
}

public(package) fun withdraw_successor(self: &mut Custody, treasury_id: ID) {
    assert!(self.successor.is_some(), ENotAnnounced);
    self.successor = option::none();
    event::emit(SuccessorWithdrawn { treasury_id });
}

/// Sends the capabilities to the successor.
public(package) fun move_dwallets(self: &mut Custody, treasury_id: ID, mut dwallet_ids: vector<ID>, ctx: &TxContext) {
    let successor = due(&self.successor, ctx);
    while (!dwallet_ids.is_empty()) {
        let dwallet_id = dwallet_ids.pop_back();
        assert!(self.has_dwallet(dwallet_id), EUnknownDWallet);
        assert!(!self.dwallets[dwallet_id].is_refused, ERefused);
        let (cap, DWallet { curve, owner, .. }) = self.take_dwallet(dwallet_id);
        let dwallet_cap_id = object::id(&cap);
        transfer::public_transfer(cap, successor);
        event::emit(DWalletMoved { treasury_id, dwallet_id, dwallet_cap_id, curve, owner, successor });
    }
}

/// Sends the capabilities to the successor.
public(package) fun move_presigns(self: &mut Custody, treasury_id: ID, mut presign_ids: vector<ID>, ctx: &TxContext) {
    let successor = due(&self.successor, ctx);
    while (!presign_ids.is_empty()) {
        let presign_id = presign_ids.pop_back();
        let cap = self.take_presign(presign_id);
        let presign_cap_id = object::id(&cap);
        transfer::public_transfer(cap, successor);
        event::emit(PresignMoved { treasury_id, presign_id, presign_cap_id, successor });
    }
}

public(package) fun take_in_dwallet(self: &mut Custody, treasury_id: ID, cap: DWalletCap, curve: u32, owner: address) {
    let (dwallet_id, dwallet_cap_id) = (cap.dwallet_id(), object::id(&cap));
    self.keep_dwallet(cap, curve, owner);
    event::emit(DWalletTakenIn { treasury_id, dwallet_id, dwallet_cap_id, curve, owner });
}

public(package) fun take_in_presign(self: &mut Custody, treasury_id: ID, cap: UnverifiedPresignCap) {
    let presign_cap_id = object::id(&cap);
    let presign_id = self.keep_presign(cap);
    event::emit(PresignTakenIn { treasury_id, presign_id, presign_cap_id });
}

// === Internal ===

fun take_dwallet(self: &mut Custody, dwallet_id: ID): (DWalletCap, DWallet) {
    self.forget_announced(dwallet_id);
    (self.dwallet_caps.remove(dwallet_id), self.dwallets.remove(dwallet_id))
}

fun forget_announced(self: &mut Custody, dwallet_id: ID) {
    let mut i = 0;
    while (i < self.announced.length()) {
        if (self.announced[i] == dwallet_id) {
            let last = self.announced.length() - 1;
            self.announced.swap(i, last);
            self.announced.pop_back();
            return
        };
        i = i + 1;
    }
}

/// Returns the announced recipient. Aborts before the delay has passed, and after the window has closed.
fun due(announced: &Option<Announcement>, ctx: &TxContext): address {
    assert!(announced.is_some(), ENotAnnounced);
    let Announcement { to, from_epoch } = *announced.borrow();
    assert!(ctx.epoch() >= from_epoch, ETooEarly);
    assert!(ctx.epoch() < from_epoch + WINDOW, ETooLate);
    to
}

/// Aborts unless the owner has signed the consent, it has not expired, and its nonce is the next one of the dWallet.
fun use_consent(
    self: &mut Custody,
    dwallet_id: ID,
    consent: &consent::Consent,
    public_key: vector<u8>,
    signature: vector<u8>,
    ctx: &TxContext,
) {
    assert!(self.has_dwallet(dwallet_id), EUnknownDWallet);
    assert!(ctx.epoch() <= consent.expires_epoch(), EExpired);
    if (!self.nonces.contains(dwallet_id)) self.nonces.add(dwallet_id, 0);
    let nonce = &mut self.nonces[dwallet_id];
    assert!(consent.nonce() == *nonce, EWrongNonce);
    *nonce = *nonce + 1;
    let owner = self.dwallets[dwallet_id].owner;
    assert!(consent.is_signed_by(owner, &public_key, &signature), EBadConsent);
}

/// Returns the id of the cap's presign. `UnverifiedPresignCap` has no public getter for it, so this reads the BCS form:
/// id, optional dWallet id, presign id.
fun presign_id_of(cap: &UnverifiedPresignCap): ID {
    let mut reader = bcs::new(bcs::to_bytes(cap));
    reader.peel_address();
    reader.peel_option_address();
    object::id_from_address(reader.peel_address())
}
