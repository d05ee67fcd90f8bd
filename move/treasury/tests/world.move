/// A Treasury with an administrator, an operator and a network, and the steps that the scenarios take in it. Every step
/// that pays compares the Treasury's balances with the network's price and with the events.
#[test_only]
module treasury::world;

use ika::ika::IKA;
use ika_dwallet_2pc_mpc::coordinator::DWalletCoordinator;
use ika_dwallet_2pc_mpc::sessions_manager::UserSessionIdentifierRegisteredEvent;
use sui::bcs;
use sui::coin::mint_for_testing;
use sui::event::events_by_type;
use sui::hash::keccak256;
use sui::sui::SUI;
use treasury::custody::{
    DWalletLeft,
    DWalletMoved,
    DWalletReleased,
    DWalletTakenIn,
    PresignMoved,
    PresignReleased,
    PresignTakenIn,
    ReleaseAnnounced,
    ReleaseRefused,
    ReleaseWithdrawn,
    SuccessorAnnounced,
    SuccessorWithdrawn,
};
use treasury::network::{Self, Network, price};
use treasury::operators::{amounts, OperatorRevoked, OperatorSet};
use treasury::roles::{Self, AdminCap, AdminOffered, AdminOfferWithdrawn, AdminReplaced, RolesSet};
use treasury::treasury::{
    CeilingSet,
    create_for_testing,
    Deposited,
    DkgPaid,
    Drained,
    FutureSignPaid,
    ImportPaid,
    Migrated,
    OperatorCap,
    PauseSet,
    PresignPaid,
    SharePaid,
    SignPaid,
    Treasury,
    TreasuryCreated,
};

const SENDER: address = @0xa11ce;
const UNKNOWN: address = @0xdead;
const SUCCESSOR: address = @0x5ccc;
/// The administrator has paid in for this many sessions.
const FUNDED_SESSIONS: u64 = 1_000;
/// More than any operator of a scenario spends.
const AMPLE: u64 = 1_000_000;

// Transactions are numbered, and the ids of their objects follow from the numbers.
const TREASURY_TRANSACTION: u64 = 2;
/// The DKG or import of the first dWallet; the next ones follow.
const FIRST_DKG: u64 = 100;
/// After an epoch has passed, or with another sender.
const FIRST_OTHER: u64 = 1_000;

public struct World {
    network: Network,
    coordinator: DWalletCoordinator,
    treasury: Treasury,
    /// The last one is the administrator's.
    admins: vector<AdminCap>,
    /// The last one acts.
    operators: vector<OperatorCap>,
    foreign_treasury: Treasury,
    foreign_admin: AdminCap,
    foreign_operator: OperatorCap,
    sessions_count: u64,
    transactions_count: u64,
    /// The curves that have a user with an encryption key.
    users: vector<u32>,
    dwallets: vector<ID>,
    presigns: vector<ID>,
}

/// A Treasury with funds, one operator, and ceilings of exactly the price for the curve 0 with the algorithm 0.
public fun begin(): World {
    begin_at(1)
}

/// A world whose transactions pay this gas price.
public fun begin_at(gas_price: u64): World {
    let (mut network, coordinator) = network::start(SENDER, gas_price);
    network.next(TREASURY_TRANSACTION);
    let (mut treasury, admin) = create_for_testing(network.ctx());
    let created = bcs::to_bytes(&events_by_type<TreasuryCreated>()[0]);
    assert!(id_at(&created, 0) == object::id(&treasury) && id_at(&created, 32) == object::id(&admin));
    assert!(id_at(&created, 64) == object::id_from_address(SENDER));
    let (mut foreign_treasury, foreign_admin) = create_for_testing(network.ctx());
    let limits = amounts(AMPLE, AMPLE, AMPLE, AMPLE, AMPLE);
    let operator = treasury.new_operator_for_testing(&admin, SENDER, AMPLE, limits, network.ctx());
    let foreign_operator = foreign_treasury.new_operator_for_testing(
        &foreign_admin,
        SENDER,
        AMPLE,
        limits,
        network.ctx(),
    );
    let mut world = World {
        network,
        coordinator,
        treasury,
        admins: vector[admin],
        operators: vector[operator],
        foreign_treasury,
        foreign_admin,
        foreign_operator,
        sessions_count: 0,
        transactions_count: 0,
        users: vector[],
        dwallets: vector[],
        presigns: vector[],
    };
    let (ika, sui) = price();
    let mut op = 0;
    while (op <= 6) {
        world.set_ceiling(0, op, 0, 0, ika, sui);
        op = op + 1;
    };
    world.deposit(FUNDED_SESSIONS * ika, FUNDED_SESSIONS * sui);
    world
}

public fun end(self: World) {
    let World {
        network,
        coordinator,
        treasury,
        mut admins,
        mut operators,
        foreign_treasury,
        foreign_admin,
        foreign_operator,
        ..,
    } = self;
    network.stop(coordinator);
    treasury.share_for_testing();
    foreign_treasury.share_for_testing();
    while (!admins.is_empty()) roles::give(admins.pop_back(), SENDER);
    admins.destroy_empty();
    roles::give(foreign_admin, SENDER);
    foreign_operator.discard_for_testing();
    while (!operators.is_empty()) operators.pop_back().discard_for_testing();
    operators.destroy_empty();
}

/// This many epochs pass.
public fun pass(self: &mut World, epochs: u64) {
    self.network.pass(epochs);
    self.next();
}

/// The sender of the next transactions.
public fun act_as(self: &mut World, sender: address) {
    self.network.act_as(sender);
    self.next();
}

// === Anyone ===

public fun deposit(self: &mut World, ika: u64, sui: u64) {
    let (ika_before, sui_before) = self.treasury.balances();
    let ika_coin = mint_for_testing<IKA>(ika, self.network.ctx());
    let sui_coin = mint_for_testing<SUI>(sui, self.network.ctx());
    self.treasury.deposit(ika_coin, sui_coin, self.network.ctx());
    let (ika_after, sui_after) = self.treasury.balances();
    assert!(ika_after == ika_before + ika && sui_after == sui_before + sui);
    let events = events_by_type<Deposited>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(u64_at(&event, 64) == ika && u64_at(&event, 72) == sui);
}

// === User ===

public fun leave(
    self: &mut World,
    dwallet_id: ID,
    chain: vector<u8>,
    recipient: address,
    nonce: u64,
    expires_epoch: u64,
    public_key: vector<u8>,
    signature: vector<u8>,
) {
    self.treasury.leave(dwallet_id, chain, recipient, nonce, expires_epoch, public_key, signature, self.network.ctx());
    assert!(!self.treasury.has_dwallet(dwallet_id));
    let events = events_by_type<DWalletLeft>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 32) == dwallet_id && id_at(&event, 128) == object::id_from_address(recipient));
}

public fun refuse_release(
    self: &mut World,
    dwallet_id: ID,
    chain: vector<u8>,
    nonce: u64,
    expires_epoch: u64,
    public_key: vector<u8>,
    signature: vector<u8>,
) {
    self.treasury.refuse_release(dwallet_id, chain, nonce, expires_epoch, public_key, signature, self.network.ctx());
    assert!(self.treasury.has_dwallet(dwallet_id));
    let events = events_by_type<ReleaseRefused>();
    assert!(id_at(&bcs::to_bytes(&events[events.length() - 1]), 32) == dwallet_id);
}

// === Operator ===

public fun pay_presigns(
    self: &mut World,
    is_own_cap: bool,
    is_known_key: bool,
    curve: u32,
    signature_algorithm: u32,
    sessions: vector<vector<u8>>,
) {
    let key_id = self.key_id(is_known_key);
    let count = sessions.length();
    let (ika_before, sui_before) = self.treasury.balances();
    let cap = if (is_own_cap) &self.operators[self.operators.length() - 1] else &self.foreign_operator;
    let ids = self
        .treasury
        .pay_presigns(
            cap,
            &mut self.coordinator,
            key_id,
            curve,
            signature_algorithm,
            sessions,
            self.network.ctx(),
        );
    self.check_presigns(ids, sessions);
    self.check_spent(ika_before, sui_before, count);
}

public fun pay_dkg(
    self: &mut World,
    is_own_cap: bool,
    is_known_key: bool,
    curve: u32,
    user: address,
    session: vector<u8>,
) {
    let key_id = self.key_id(is_known_key);
    let number = FIRST_DKG + self.dwallets.length();
    self.network.next(number);
    let (ika_before, sui_before) = self.treasury.balances();
    let cap = if (is_own_cap) &self.operators[self.operators.length() - 1] else &self.foreign_operator;
    let id = self
        .treasury
        .pay_dkg(
            cap,
            &mut self.coordinator,
            key_id,
            curve,
            b"share and proof",
            b"encrypted share and proof",
            user,
            b"public output",
            b"public key",
            session,
            b"reference",
            self.network.ctx(),
        );
    let events = events_by_type<DkgPaid>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(self.treasury.has_dwallet(id) && id_at(&event, 64) == id);
    assert!(id_at(&event, 132) == object::id_from_address(user));
    check_price(&event, 164);
    check_reference(&event, 180);
    self.dwallets.push_back(id);
    self.check_spent(ika_before, sui_before, 1);
}

public fun pay_import(
    self: &mut World,
    is_own_cap: bool,
    is_known_key: bool,
    curve: u32,
    user: address,
    session: vector<u8>,
) {
    let key_id = self.key_id(is_known_key);
    let number = FIRST_DKG + self.dwallets.length();
    self.network.next(number);
    let (ika_before, sui_before) = self.treasury.balances();
    let cap = if (is_own_cap) &self.operators[self.operators.length() - 1] else &self.foreign_operator;
    let id = self
        .treasury
        .pay_import(
            cap,
            &mut self.coordinator,
            key_id,
            curve,
            b"message",
            b"encrypted share and proof",
            user,
            b"public output",
            b"public key",
            session,
            b"reference",
            self.network.ctx(),
        );
    let events = events_by_type<ImportPaid>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(self.treasury.has_dwallet(id) && id_at(&event, 64) == id);
    assert!(id_at(&event, 132) == object::id_from_address(user));
    check_price(&event, 164);
    check_reference(&event, 180);
    self.dwallets.push_back(id);
    self.check_spent(ika_before, sui_before, 1);
}

/// Presigns for one dWallet.
public fun pay_dwallet_presigns(
    self: &mut World,
    is_own_cap: bool,
    dwallet_id: ID,
    signature_algorithm: u32,
    sessions: vector<vector<u8>>,
) {
    let count = sessions.length();
    let (ika_before, sui_before) = self.treasury.balances();
    let cap = if (is_own_cap) &self.operators[self.operators.length() - 1] else &self.foreign_operator;
    let ids = self
        .treasury
        .pay_dwallet_presigns(
            cap,
            &mut self.coordinator,
            dwallet_id,
            signature_algorithm,
            sessions,
            self.network.ctx(),
        );
    self.check_presigns(ids, sessions);
    self.check_spent(ika_before, sui_before, count);
}

public fun pay_imported_key_sign(
    self: &mut World,
    is_own_cap: bool,
    dwallet_id: ID,
    presign_id: ID,
    curve: u32,
    signature_algorithm: u32,
    hash_scheme: u32,
    session: vector<u8>,
) {
    let (ika_before, sui_before) = self.treasury.balances();
    let cap = if (is_own_cap) &self.operators[self.operators.length() - 1] else &self.foreign_operator;
    let sign_id = self
        .treasury
        .pay_imported_key_sign(
            cap,
            &mut self.coordinator,
            dwallet_id,
            presign_id,
            curve,
            signature_algorithm,
            hash_scheme,
            b"message",
            b"user's half",
            session,
            b"reference",
            self.network.ctx(),
        );
    self.check_sign(sign_id, dwallet_id, presign_id);
    self.check_spent(ika_before, sui_before, 1);
}

public fun pay_sign(
    self: &mut World,
    is_own_cap: bool,
    dwallet_id: ID,
    presign_id: ID,
    curve: u32,
    signature_algorithm: u32,
    hash_scheme: u32,
    session: vector<u8>,
) {
    let (ika_before, sui_before) = self.treasury.balances();
    let cap = if (is_own_cap) &self.operators[self.operators.length() - 1] else &self.foreign_operator;
    let sign_id = self
        .treasury
        .pay_sign(
            cap,
            &mut self.coordinator,
            dwallet_id,
            presign_id,
            curve,
            signature_algorithm,
            hash_scheme,
            b"message",
            b"user's half",
            session,
            b"reference",
            self.network.ctx(),
        );
    self.check_sign(sign_id, dwallet_id, presign_id);
    self.check_spent(ika_before, sui_before, 1);
}

public fun pay_share(
    self: &mut World,
    is_own_cap: bool,
    is_known_source: bool,
    dwallet_id: ID,
    curve: u32,
    recipient: address,
    session: vector<u8>,
) {
    let source_id = if (is_known_source) self.network.share_id(&self.coordinator, dwallet_id) else unknown();
    let (ika_before, sui_before) = self.treasury.balances();
    let cap = if (is_own_cap) &self.operators[self.operators.length() - 1] else &self.foreign_operator;
    self
        .treasury
        .pay_share(
            cap,
            &mut self.coordinator,
            dwallet_id,
            curve,
            recipient,
            b"encrypted share and proof",
            source_id,
            session,
            b"reference",
            self.network.ctx(),
        );
    let events = events_by_type<SharePaid>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 64) == dwallet_id && id_at(&event, 96) == object::id_from_address(recipient));
    check_price(&event, 128);
    check_reference(&event, 144);
    assert!(self.treasury.has_dwallet(dwallet_id));
    self.check_spent(ika_before, sui_before, 1);
}

public fun pay_future_sign(
    self: &mut World,
    is_own_cap: bool,
    dwallet_id: ID,
    presign_id: ID,
    curve: u32,
    signature_algorithm: u32,
    hash_scheme: u32,
    epochs: u64,
    session: vector<u8>,
) {
    let (ika_before, sui_before) = self.treasury.balances();
    let cap = if (is_own_cap) &self.operators[self.operators.length() - 1] else &self.foreign_operator;
    self
        .treasury
        .pay_future_sign(
            cap,
            &mut self.coordinator,
            dwallet_id,
            presign_id,
            curve,
            signature_algorithm,
            hash_scheme,
            b"message",
            b"user's half",
            epochs,
            session,
            b"reference",
            self.network.ctx(),
        );
    let events = events_by_type<FutureSignPaid>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 64) == dwallet_id && id_at(&event, 96) == presign_id);
    check_price(&event, 128);
    check_reference(&event, 144);
    assert!(self.treasury.has_dwallet(dwallet_id) && !self.treasury.has_presign(presign_id));
    self.check_spent(ika_before, sui_before, 1);
}

public fun pay_partial_sign(
    self: &mut World,
    is_own_cap: bool,
    dwallet_id: ID,
    presign_id: ID,
    curve: u32,
    signature_algorithm: u32,
    hash_scheme: u32,
    is_same_message: bool,
    session: vector<u8>,
) {
    let message = if (is_same_message) b"message" else b"another";
    let (ika_before, sui_before) = self.treasury.balances();
    let cap = if (is_own_cap) &self.operators[self.operators.length() - 1] else &self.foreign_operator;
    let sign_id = self
        .treasury
        .pay_partial_sign(
            cap,
            &mut self.coordinator,
            dwallet_id,
            presign_id,
            curve,
            signature_algorithm,
            hash_scheme,
            message,
            session,
            b"reference",
            self.network.ctx(),
        );
    self.check_sign(sign_id, dwallet_id, presign_id);
    self.check_spent(ika_before, sui_before, 1);
}

/// This many halves of the last dWallet, each with a presign.
public fun halves(self: &mut World, count: u64) {
    let mut i = 0;
    while (i < count) {
        let sessions = self.fresh_sessions(1);
        self.pay_presigns(true, true, 0, 0, sessions);
        self.complete_presign();
        let (dwallet_id, presign_id, session) = (self.last_dwallet(), self.last_presign(), self.fresh_session());
        self.pay_future_sign(true, dwallet_id, presign_id, 0, 0, 0, 2, session);
        i = i + 1;
    };
}

/// Session identifiers that nothing has used.
public fun fresh_sessions(self: &mut World, count: u64): vector<vector<u8>> {
    let mut sessions = vector[];
    while (sessions.length() < count) sessions.push_back(self.fresh_session());
    sessions
}

public fun fresh_session(self: &mut World): vector<u8> {
    self.sessions_count = self.sessions_count + 1;
    session_of(self.sessions_count)
}

/// The identifier of a session that the world has opened, by its number from one.
public fun session_of(number: u64): vector<u8> {
    let mut session = bcs::to_bytes(&number);
    while (session.length() < 32) session.push_back(0);
    session
}

public fun last_dwallet(self: &World): ID {
    self.dwallets[self.dwallets.length() - 1]
}

public fun last_presign(self: &World): ID {
    self.presigns[self.presigns.length() - 1]
}

public fun unknown(): ID {
    object::id_from_address(UNKNOWN)
}

// === Administrator ===

public fun new_operator(
    self: &mut World,
    admin: u8,
    holder: address,
    expires_epoch: u64,
    ika: u64,
    sui: u64,
    dkgs: u64,
    presigns: u64,
    signs: u64,
) {
    let limits = amounts(ika, sui, dkgs, presigns, signs);
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    let operator = self.treasury.new_operator_for_testing(admin, holder, expires_epoch, limits, self.network.ctx());
    check_operator_event(object::id(&operator), holder, expires_epoch, ika, signs);
    self.operators.push_back(operator);
}

public fun renew_operator(
    self: &mut World,
    admin: u8,
    is_known_operator: bool,
    expires_epoch: u64,
    ika: u64,
    sui: u64,
    dkgs: u64,
    presigns: u64,
    signs: u64,
) {
    let id = if (is_known_operator) object::id(&self.operators[self.operators.length() - 1]) else unknown();
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.renew_operator(admin, id, expires_epoch, ika, sui, dkgs, presigns, signs);
    check_operator_event(id, SENDER, expires_epoch, ika, signs);
}

public fun revoke_operator(self: &mut World, admin: u8, is_known_operator: bool) {
    let last = &self.operators[self.operators.length() - 1];
    let id = if (is_known_operator) object::id(last) else unknown();
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.revoke_operator(admin, id);
    let events = events_by_type<OperatorRevoked>();
    assert!(id_at(&bcs::to_bytes(&events[events.length() - 1]), 32) == id);
}

public fun set_ceiling(
    self: &mut World,
    admin: u8,
    op: u8,
    curve: u32,
    signature_algorithm: u32,
    ika: u64,
    sui: u64,
) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.set_ceiling(admin, op, curve, signature_algorithm, ika, sui);
    let events = events_by_type<CeilingSet>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(event[32] == op && u64_at(&event, 41) == ika && u64_at(&event, 49) == sui);
}

public fun set_paused(self: &mut World, admin: u8, paused: bool) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.set_paused(admin, paused, self.network.ctx());
    let events = events_by_type<PauseSet>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(event[32] == if (paused) 1 else 0);
}

public fun pause(self: &mut World) {
    self.treasury.pause(self.network.ctx());
    let events = events_by_type<PauseSet>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(event[32] == 1);
}

/// Withdraws all but these amounts.
public fun keep(self: &mut World, ika: u64, sui: u64) {
    let (ika_before, sui_before) = self.treasury.balances();
    self.drain(0, ika_before - ika, sui_before - sui);
    let (ika_after, sui_after) = self.treasury.balances();
    assert!(ika_after == ika && sui_after == sui);
}

/// Withdraws this much more than the Treasury has.
public fun overdraw(self: &mut World, ika: u64, sui: u64) {
    let (ika_before, sui_before) = self.treasury.balances();
    self.drain(0, ika_before + ika, sui_before + sui);
}

public fun drain(self: &mut World, admin: u8, ika: u64, sui: u64) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.drain(admin, ika, sui, SENDER, self.network.ctx());
    let events = events_by_type<Drained>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(u64_at(&event, 64) == ika && u64_at(&event, 72) == sui);
}

public fun set_roles(self: &mut World, admin: u8, pauser: address, recovery: address) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.set_roles(admin, pauser, recovery);
    let events = events_by_type<RolesSet>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 32) == object::id_from_address(pauser));
    assert!(id_at(&event, 64) == object::id_from_address(recovery));
}

public fun offer_admin(self: &mut World, admin: u8, to: address) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.offer_admin(admin, to, self.network.ctx());
    check_offer(to, 0);
}

public fun recover_admin(self: &mut World, to: address) {
    self.treasury.recover_admin(to, self.network.ctx());
    check_offer(to, 1);
}

public fun withdraw_admin_offer(self: &mut World, admin: u8) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.withdraw_admin_offer(admin);
    assert!(events_by_type<AdminOfferWithdrawn>().length() > 0);
}

/// The sender of the transaction becomes the administrator.
public fun accept_admin(self: &mut World) {
    let admin = self.treasury.accept_admin_for_testing(self.network.ctx());
    let events = events_by_type<AdminReplaced>();
    assert!(id_at(&bcs::to_bytes(&events[events.length() - 1]), 32) == object::id(&admin));
    self.admins.push_back(admin);
}

public fun announce_release(self: &mut World, admin: u8, dwallet_id: ID) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.announce_release(admin, dwallet_id, SENDER, self.network.ctx());
    let events = events_by_type<ReleaseAnnounced>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 32) == dwallet_id && id_at(&event, 96) == object::id_from_address(SENDER));
}

public fun withdraw_release(self: &mut World, admin: u8, dwallet_id: ID) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.withdraw_release(admin, dwallet_id);
    let events = events_by_type<ReleaseWithdrawn>();
    assert!(id_at(&bcs::to_bytes(&events[events.length() - 1]), 32) == dwallet_id);
}

public fun release_dwallet(self: &mut World, admin: u8, dwallet_id: ID) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.release_dwallet(admin, dwallet_id, self.network.ctx());
    assert!(!self.treasury.has_dwallet(dwallet_id));
    let events = events_by_type<DWalletReleased>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 32) == dwallet_id && id_at(&event, 128) == object::id_from_address(SENDER));
}

public fun release_presign(self: &mut World, admin: u8, presign_id: ID) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.release_presign(admin, presign_id, SENDER);
    assert!(!self.treasury.has_presign(presign_id));
    let events = events_by_type<PresignReleased>();
    assert!(id_at(&bcs::to_bytes(&events[events.length() - 1]), 32) == presign_id);
}

public fun announce_successor(self: &mut World, admin: u8) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.announce_successor(admin, SUCCESSOR, self.network.ctx());
    let events = events_by_type<SuccessorAnnounced>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 32) == object::id_from_address(SUCCESSOR));
}

public fun withdraw_successor(self: &mut World, admin: u8) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.withdraw_successor(admin);
    assert!(events_by_type<SuccessorWithdrawn>().length() > 0);
}

public fun move_dwallets(self: &mut World, admin: u8, dwallet_ids: vector<ID>) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.move_dwallets(admin, dwallet_ids, self.network.ctx());
    let events = events_by_type<DWalletMoved>();
    let count = dwallet_ids.length();
    let mut i = 0;
    while (i < count) {
        let event = bcs::to_bytes(&events[events.length() - 1 - i]);
        assert!(!self.treasury.has_dwallet(dwallet_ids[i]) && id_at(&event, 32) == dwallet_ids[i]);
        assert!(id_at(&event, 132) == object::id_from_address(SUCCESSOR));
        i = i + 1;
    };
}

public fun move_presigns(self: &mut World, admin: u8, presign_ids: vector<ID>) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.move_presigns(admin, presign_ids, self.network.ctx());
    let events = events_by_type<PresignMoved>();
    let count = presign_ids.length();
    let mut i = 0;
    while (i < count) {
        let event = bcs::to_bytes(&events[events.length() - 1 - i]);
        assert!(!self.treasury.has_presign(presign_ids[i]) && id_at(&event, 32) == presign_ids[i]);
        i = i + 1;
    };
}

/// The capability of the last dWallet comes back, for a dWallet of this curve and owner.
public fun take_in_dwallet(self: &mut World, admin: u8, curve: u32, owner: address) {
    let dwallet_id = self.last_dwallet();
    let cap = self.network.dwallet_cap(&self.coordinator, dwallet_id);
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.take_in_dwallet_for_testing(admin, cap, curve, owner);
    assert!(self.treasury.has_dwallet(dwallet_id));
    let events = events_by_type<DWalletTakenIn>();
    assert!(id_at(&bcs::to_bytes(&events[events.length() - 1]), 32) == dwallet_id);
}

/// The capability of the last imported key comes back, for a dWallet of this curve and owner.
public fun take_in_imported_key(self: &mut World, admin: u8, curve: u32, owner: address) {
    let dwallet_id = self.last_dwallet();
    let cap = self.network.imported_key_cap(&self.coordinator, dwallet_id);
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.take_in_imported_key_for_testing(admin, cap, curve, owner);
    assert!(self.treasury.has_dwallet(dwallet_id));
    let events = events_by_type<DWalletTakenIn>();
    assert!(id_at(&bcs::to_bytes(&events[events.length() - 1]), 32) == dwallet_id);
}

/// The capability of the last presign comes back.
public fun take_in_presign(self: &mut World, admin: u8) {
    let presign_id = self.last_presign();
    let cap = self.network.presign_cap(&mut self.coordinator, presign_id);
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.take_in_presign_for_testing(admin, cap);
    assert!(self.treasury.has_presign(presign_id));
    let events = events_by_type<PresignTakenIn>();
    assert!(id_at(&bcs::to_bytes(&events[events.length() - 1]), 32) == presign_id);
}

public fun migrate(self: &mut World, admin: u8) {
    let admin = pick(&self.admins, &self.foreign_admin, admin);
    self.treasury.migrate(admin);
    let events = events_by_type<Migrated>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(u64_at(&event, 32) < u64_at(&event, 40));
}

/// The Treasury is of another version than the package.
public fun set_version(self: &mut World, version: u64) {
    self.treasury.set_version_for_testing(version);
}

// === Network ===

/// Registers an encryption key of this curve for its user, once.
public fun user(self: &mut World, user: address, curve: u32): address {
    if (!self.users.contains(&curve)) {
        self.network.register_user(&mut self.coordinator, user, curve);
        self.users.push_back(curve);
    };
    user
}

public fun nobody(): address {
    UNKNOWN
}

public fun complete_presign(self: &mut World) {
    let id = self.last_presign();
    self.network.complete_presign(&mut self.coordinator, id);
}

public fun complete_half(self: &mut World) {
    self.network.complete_half(&mut self.coordinator);
}

public fun activate_dwallet(self: &mut World) {
    let id = self.last_dwallet();
    self.network.activate_dwallet(&mut self.coordinator, id);
}

public fun pause_curve(self: &mut World, curve: u32) {
    self.network.pause_curve(&mut self.coordinator, curve);
}

public fun move_on(self: &mut World) {
    self.network.move_on(&mut self.coordinator);
}

// === Internal ===

fun key_id(self: &World, is_known: bool): ID {
    if (is_known) self.network.key_id(&self.coordinator) else unknown()
}

/// The last events are of these presigns, one for each session.
fun check_presigns(self: &mut World, ids: vector<ID>, sessions: vector<vector<u8>>) {
    let events = events_by_type<PresignPaid>();
    let count = sessions.length();
    assert!(ids.length() == count);
    let mut i = 0;
    while (i < count) {
        let event = bcs::to_bytes(&events[events.length() - count + i]);
        assert!(self.treasury.has_presign(ids[i]) && id_at(&event, 64) == ids[i]);
        check_price(&event, 104);
        check_session(self.network.ctx().sender(), sessions[i], count - i);
        self.presigns.push_back(ids[i]);
        i = i + 1;
    };
}

fun check_sign(self: &World, sign_id: ID, dwallet_id: ID, presign_id: ID) {
    let events = events_by_type<SignPaid>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 64) == sign_id && id_at(&event, 96) == dwallet_id && id_at(&event, 128) == presign_id);
    check_price(&event, 160);
    check_reference(&event, 176);
    assert!(self.treasury.has_dwallet(dwallet_id) && !self.treasury.has_presign(presign_id));
}

fun check_spent(self: &World, ika_before: u64, sui_before: u64, count: u64) {
    let (ika, sui) = price();
    let (ika_after, sui_after) = self.treasury.balances();
    assert!(ika_before - ika_after == count * ika && sui_before - sui_after == count * sui);
}

fun check_price(event: &vector<u8>, offset: u64) {
    let (ika, sui) = price();
    assert!(u64_at(event, offset) == ika && u64_at(event, offset + 8) == sui);
}

fun check_reference(event: &vector<u8>, offset: u64) {
    assert!(tail(event, offset) == bcs::to_bytes(&b"reference"));
}

/// The session with this distance from the last one is of these bytes.
fun check_session(sender: address, session: vector<u8>, distance: u64) {
    let events = events_by_type<UserSessionIdentifierRegisteredEvent>();
    let event = bcs::to_bytes(&events[events.length() - distance]);
    let mut preimage = bcs::to_bytes(&sender);
    preimage.append(session);
    assert!(tail(&event, 32) == bcs::to_bytes(&keccak256(&preimage)));
}

fun check_operator_event(operator_cap_id: ID, holder: address, expires_epoch: u64, ika: u64, signs: u64) {
    let events = events_by_type<OperatorSet>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 32) == operator_cap_id && id_at(&event, 64) == object::id_from_address(holder));
    assert!(u64_at(&event, 96) == expires_epoch && u64_at(&event, 104) == ika && u64_at(&event, 136) == signs);
}

fun check_offer(to: address, is_recovery: u8) {
    let events = events_by_type<AdminOffered>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 32) == object::id_from_address(to) && event[72] == is_recovery);
}

/// The administrator's own cap, that of another Treasury's administrator, or the first one of this Treasury.
fun pick(admins: &vector<AdminCap>, foreign: &AdminCap, which: u8): &AdminCap {
    if (which == 0) &admins[admins.length() - 1] else if (which == 1) foreign else &admins[0]
}

/// Starts another transaction.
fun next(self: &mut World) {
    let number = FIRST_OTHER + self.transactions_count;
    self.transactions_count = self.transactions_count + 1;
    self.network.next(number);
}

fun tail(bytes: &vector<u8>, offset: u64): vector<u8> {
    let mut found = vector[];
    let mut i = offset;
    while (i < bytes.length()) {
        found.push_back(bytes[i]);
        i = i + 1;
    };
    found
}

fun u64_at(bytes: &vector<u8>, offset: u64): u64 {
    let mut value = 0;
    let mut i = 8;
    while (i > 0) {
        i = i - 1;
        value = (value << 8) | (bytes[offset + i] as u64);
    };
    value
}

fun id_at(bytes: &vector<u8>, offset: u64): ID {
    let mut id = vector[];
    let mut i = offset;
    while (i < offset + 32) {
        id.push_back(bytes[i]);
        i = i + 1;
    };
    object::id_from_address(sui::address::from_bytes(id))
}
