/// The capabilities that the Treasury holds, and the ways in which they leave it.
///
/// The owner of a dWallet can take out its capability at any time, with a signature that anyone may submit. The
/// administrator can release it to an address, or move it to a successor Treasury, but only in a window of 14 epochs
/// that opens 14 epochs after an event announces it. The owner can forbid both permanently. Presign capabilities belong
/// to the operator of the service, because a signature also needs the user's share.
module treasury::custody;

use ika_dwallet_2pc_mpc::coordinator_inner::{
    DWalletCap,
    ImportedKeyDWalletCap,
    UnverifiedPartialUserSignatureCap,
    UnverifiedPresignCap,
};
use sui::bcs;
use sui::dynamic_field;
use sui::dynamic_object_field;
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
/// The maximum number of halves of a dWallet. One object stores their list.
const MAX_HALVES: u64 = 64;
/// The maximum number of epochs for which the Treasury keeps a half.
const MAX_HALF_EPOCHS: u64 = 31;

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
/// The Treasury holds the dWallet, but not as a key of this kind: imported or not. Not `EUnknownDWallet`, which tells
/// clients that the dWallet has left.
const EWrongKind: u64 = 12;
/// The Treasury keeps no such half of this dWallet: none was paid for, it is used, its last epoch has passed, or the
/// dWallet's capability has left since.
const EUnknownHalf: u64 = 13;
/// The dWallet has 64 halves whose last epoch has not passed.
const ETooManyHalves: u64 = 14;
/// A half is kept for 1 to 31 epochs.
const EBadPeriod: u64 = 15;

public struct Custody has store {
    /// By dWallet id. The Treasury object itself holds the capabilities of imported keys, as dynamic object fields by
    /// dWallet id, because an upgrade of the package cannot add a table here.
    dwallet_caps: ObjectTable<ID, DWalletCap>,
    /// By presign id.
    presign_caps: ObjectTable<ID, UnverifiedPresignCap>,
    /// The dWallets and imported keys whose capabilities the Treasury holds.
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

/// Names the dynamic field of the Treasury with the list of a dWallet's halves.
public struct HalvesOf has copy, drop, store { dwallet_id: ID }

/// Names the dynamic object field of the Treasury with the capability of a half.
public struct HalfOf has copy, drop, store { presign_id: ID }

/// A user's half of a signature that the Treasury can complete. A capability without such an entry is dead: no function
/// reaches it, and Ika has none that destroys it.
public struct Half has copy, drop, store { presign_id: ID, last_epoch: u64 }

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

/// Returns whether the Treasury holds the capability of this dWallet or imported key.
public(package) fun has_dwallet(self: &Custody, dwallet_id: ID): bool {
    self.dwallets.contains(dwallet_id)
}

public(package) fun has_presign(self: &Custody, presign_id: ID): bool {
    self.presign_caps.contains(presign_id)
}

public(package) fun curve(self: &Custody, dwallet_id: ID): u32 {
    assert!(self.has_dwallet(dwallet_id), EUnknownDWallet);
    self.dwallets[dwallet_id].curve
}

/// Returns the capability of a dWallet that the Treasury holds, and that is no imported key.
public(package) fun dwallet(self: &Custody, dwallet_id: ID): &DWalletCap {
    assert!(self.dwallet_caps.contains(dwallet_id), EWrongKind);
    &self.dwallet_caps[dwallet_id]
}

/// Returns the capability of an imported key that the Treasury holds.
public(package) fun imported_key(treasury: &UID, dwallet_id: ID): &ImportedKeyDWalletCap {
    assert!(dynamic_object_field::exists_(treasury, dwallet_id), EWrongKind);
    dynamic_object_field::borrow(treasury, dwallet_id)
}

public(package) fun keep_dwallet(self: &mut Custody, cap: DWalletCap, curve: u32, owner: address) {
    let dwallet_id = cap.dwallet_id();
    self.dwallet_caps.add(dwallet_id, cap);
    self.add_record(dwallet_id, curve, owner);
}

public(package) fun keep_imported_key(
    self: &mut Custody,
    treasury: &mut UID,
    cap: ImportedKeyDWalletCap,
    curve: u32,
    owner: address,
) {
    let dwallet_id = cap.imported_key_dwallet_id();
    dynamic_object_field::add(treasury, dwallet_id, cap);
    self.add_record(dwallet_id, curve, owner);
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

/// Returns whether the Treasury holds an imported key with this id.
public(package) fun is_imported_key(self: &Custody, dwallet_id: ID): bool {
    self.has_dwallet(dwallet_id) && !self.dwallet_caps.contains(dwallet_id)
}

/// Stores the capability of a user's half until the last of `epochs` epochs has passed.
public(package) fun keep_half(
    treasury: &mut UID,
    cap: UnverifiedPartialUserSignatureCap,
    dwallet_id: ID,
    presign_id: ID,
    epochs: u64,
    ctx: &TxContext,
) {
    assert!(epochs > 0 && epochs <= MAX_HALF_EPOCHS, EBadPeriod);
    let name = HalvesOf { dwallet_id };
    if (!dynamic_field::exists_(treasury, name)) dynamic_field::add(treasury, name, vector<Half>[]);
    let halves: &mut vector<Half> = dynamic_field::borrow_mut(treasury, name);
    forget_expired(halves, ctx);
    assert!(halves.length() < MAX_HALVES, ETooManyHalves);
    halves.push_back(Half { presign_id, last_epoch: ctx.epoch() + epochs });
    dynamic_object_field::add(treasury, HalfOf { presign_id }, cap);
}

public(package) fun take_half(
    treasury: &mut UID,
    dwallet_id: ID,
    presign_id: ID,
    ctx: &TxContext,
): UnverifiedPartialUserSignatureCap {
    assert!(has_half(treasury, dwallet_id, presign_id, ctx), EUnknownHalf);
    let halves: &mut vector<Half> = dynamic_field::borrow_mut(treasury, HalvesOf { dwallet_id });
    let i = position_of(halves, presign_id);
    forget_half(halves, i);
    dynamic_object_field::remove(treasury, HalfOf { presign_id })
}

// === The owner ===

/// Sends the dWallet's capability to the recipient in the owner's consent.
public(package) fun leave(
    self: &mut Custody,
    treasury: &mut UID,
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
    let (dwallet_cap_id, DWallet { owner, .. }) = self.hand_over(treasury, dwallet_id, recipient);
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
public(package) fun release(
    self: &mut Custody,
    treasury: &mut UID,
    treasury_id: ID,
    dwallet_id: ID,
    ctx: &TxContext,
) {
    assert!(self.has_dwallet(dwallet_id), EUnknownDWallet);
    let recipient = due(&self.dwallets[dwallet_id].release, ctx);
    let (dwallet_cap_id, DWallet { owner, .. }) = self.hand_over(treasury, dwallet_id, recipient);
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
public(package) fun move_dwallets(
    self: &mut Custody,
    treasury: &mut UID,
    treasury_id: ID,
    mut dwallet_ids: vector<ID>,
    ctx: &TxContext,
) {
    let successor = due(&self.successor, ctx);
    while (!dwallet_ids.is_empty()) {
        let dwallet_id = dwallet_ids.pop_back();
        assert!(self.has_dwallet(dwallet_id), EUnknownDWallet);
        assert!(!self.dwallets[dwallet_id].is_refused, ERefused);
        let (dwallet_cap_id, DWallet { curve, owner, .. }) = self.hand_over(treasury, dwallet_id, successor);
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

public(package) fun take_in_imported_key(
    self: &mut Custody,
    treasury: &mut UID,
    treasury_id: ID,
    cap: ImportedKeyDWalletCap,
    curve: u32,
    owner: address,
) {
    let (dwallet_id, dwallet_cap_id) = (cap.imported_key_dwallet_id(), object::id(&cap));
    self.keep_imported_key(treasury, cap, curve, owner);
    event::emit(DWalletTakenIn { treasury_id, dwallet_id, dwallet_cap_id, curve, owner });
}

public(package) fun take_in_presign(self: &mut Custody, treasury_id: ID, cap: UnverifiedPresignCap) {
    let presign_cap_id = object::id(&cap);
    let presign_id = self.keep_presign(cap);
    event::emit(PresignTakenIn { treasury_id, presign_id, presign_cap_id });
}

// === Internal ===

fun add_record(self: &mut Custody, dwallet_id: ID, curve: u32, owner: address) {
    self.dwallets.add(dwallet_id, DWallet { curve, owner, is_refused: false, release: option::none() });
}

/// Sends the capability of a dWallet or imported key to an address. Returns the id of the capability, and the dWallet's
/// record.
fun hand_over(self: &mut Custody, treasury: &mut UID, dwallet_id: ID, to: address): (ID, DWallet) {
    self.forget_announced(dwallet_id);
    forget_halves(treasury, dwallet_id);
    let dwallet = self.dwallets.remove(dwallet_id);
    if (self.dwallet_caps.contains(dwallet_id)) {
        let cap = self.dwallet_caps.remove(dwallet_id);
        let cap_id = object::id(&cap);
        transfer::public_transfer(cap, to);
        (cap_id, dwallet)
    } else {
        let cap: ImportedKeyDWalletCap = dynamic_object_field::remove(treasury, dwallet_id);
        let cap_id = object::id(&cap);
        transfer::public_transfer(cap, to);
        (cap_id, dwallet)
    }
}

/// Returns whether a half can still be completed.
fun has_half(treasury: &UID, dwallet_id: ID, presign_id: ID, ctx: &TxContext): bool {
    let name = HalvesOf { dwallet_id };
    if (!dynamic_field::exists_(treasury, name)) return false;
    let halves: &vector<Half> = dynamic_field::borrow(treasury, name);
    let i = position_of(halves, presign_id);
    i < halves.length() && ctx.epoch() <= halves[i].last_epoch
}

/// Ends all halves of a dWallet.
fun forget_halves(treasury: &mut UID, dwallet_id: ID) {
    let name = HalvesOf { dwallet_id };
    if (dynamic_field::exists_(treasury, name)) {
        let _halves: vector<Half> = dynamic_field::remove(treasury, name);
    };
}

fun forget_expired(halves: &mut vector<Half>, ctx: &TxContext) {
    let mut i = halves.length();
    while (i > 0) {
        i = i - 1;
        if (ctx.epoch() > halves[i].last_epoch) forget_half(halves, i);
    };
}

fun forget_half(halves: &mut vector<Half>, i: u64) {
    let last = halves.length() - 1;
    halves.swap(i, last);
    halves.pop_back();
}

/// Returns the length of the list if it has no such half.
fun position_of(halves: &vector<Half>, presign_id: ID): u64 {
    let mut i = 0;
    while (i < halves.length() && halves[i].presign_id != presign_id) i = i + 1;
    i
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
