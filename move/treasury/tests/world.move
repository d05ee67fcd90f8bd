/// A Treasury with an administrator, an operator and a network, and the steps that the scenarios take in it. Every step
/// that pays compares the Treasury's balances with the network's price and with the events.
#[test_only]
module treasury::world;

use ika::ika::IKA;
use ika_dwallet_2pc_mpc::coordinator::DWalletCoordinator;
use ika_dwallet_2pc_mpc::coordinator_inner::{DWalletCap, UnverifiedPresignCap};
use ika_dwallet_2pc_mpc::sessions_manager::UserSessionIdentifierRegisteredEvent;
use sui::bcs;
use sui::coin::mint_for_testing;
use sui::event::events_by_type;
use sui::hash::keccak256;
use sui::sui::SUI;
use treasury::network::{Self, Network, price};
use treasury::treasury::{
    AdminCap,
    CeilingSet,
    create_for_testing,
    Deposited,
    DkgPaid,
    Drained,
    DWalletReleased,
    Migrated,
    OperatorCap,
    OperatorSet,
    PauseSet,
    PresignPaid,
    PresignReleased,
    SignPaid,
    Treasury,
};

const SENDER: address = @0xa11ce;
const UNKNOWN: address = @0xdead;
/// The administrator has paid in for this many sessions.
const FUNDED_SESSIONS: u64 = 1_000;

public struct World {
    network: Network,
    coordinator: DWalletCoordinator,
    treasury: Treasury,
    admin: AdminCap,
    /// The last one acts.
    operators: vector<OperatorCap>,
    foreign_treasury: Treasury,
    foreign_admin: AdminCap,
    foreign_operator: OperatorCap,
    sessions_count: u64,
    /// The curves that have a user with an encryption key.
    users: vector<u32>,
    dwallets: vector<ID>,
    presigns: vector<ID>,
    /// The capabilities that the Treasury has released.
    released: vector<DWalletCap>,
    released_presigns: vector<UnverifiedPresignCap>,
}

/// A Treasury with funds, one operator, and ceilings of exactly the price for the curve 0 with the algorithm 0.
public fun begin(): World {
    let (mut network, coordinator) = network::start(SENDER);
    let (mut treasury, admin) = create_for_testing(network.ctx());
    let (mut foreign_treasury, foreign_admin) = create_for_testing(network.ctx());
    let operators = vector[treasury.new_operator(&admin, network.ctx())];
    let foreign_operator = foreign_treasury.new_operator(&foreign_admin, network.ctx());
    let mut world = World {
        network,
        coordinator,
        treasury,
        admin,
        operators,
        foreign_treasury,
        foreign_admin,
        foreign_operator,
        sessions_count: 0,
        users: vector[],
        dwallets: vector[],
        presigns: vector[],
        released: vector[],
        released_presigns: vector[],
    };
    let (ika, sui) = price();
    let mut op = 0;
    while (op <= 2) {
        world.set_ceiling(true, op, 0, 0, ika, sui);
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
        admin,
        mut operators,
        foreign_treasury,
        foreign_admin,
        foreign_operator,
        mut released,
        mut released_presigns,
        ..,
    } = self;
    network.stop(coordinator);
    treasury.share_for_testing();
    foreign_treasury.share_for_testing();
    transfer::public_transfer(admin, SENDER);
    transfer::public_transfer(foreign_admin, SENDER);
    transfer::public_transfer(foreign_operator, SENDER);
    while (!operators.is_empty()) transfer::public_transfer(operators.pop_back(), SENDER);
    operators.destroy_empty();
    while (!released.is_empty()) transfer::public_transfer(released.pop_back(), SENDER);
    released.destroy_empty();
    while (!released_presigns.is_empty()) transfer::public_transfer(released_presigns.pop_back(), SENDER);
    released_presigns.destroy_empty();
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
    let events = events_by_type<PresignPaid>();
    assert!(ids.length() == count);
    let mut i = 0;
    while (i < count) {
        let event = bcs::to_bytes(&events[events.length() - count + i]);
        assert!(self.treasury.has_presign(ids[i]) && id_at(&event, 64) == ids[i]);
        check_price(&event, 104);
        check_session(sessions[i], count - i);
        self.presigns.push_back(ids[i]);
        i = i + 1;
    };
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
    check_price(&event, 132);
    check_reference(&event, 148);
    self.dwallets.push_back(id);
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
    let events = events_by_type<SignPaid>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 64) == sign_id && id_at(&event, 96) == dwallet_id && id_at(&event, 128) == presign_id);
    check_price(&event, 160);
    check_reference(&event, 176);
    assert!(self.treasury.has_dwallet(dwallet_id) && !self.treasury.has_presign(presign_id));
    self.check_spent(ika_before, sui_before, 1);
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

public fun new_operator(self: &mut World, is_own_admin: bool) {
    let admin = if (is_own_admin) &self.admin else &self.foreign_admin;
    let operator = self.treasury.new_operator(admin, self.network.ctx());
    check_operator_event(object::id(&operator), 1);
    self.operators.push_back(operator);
}

public fun revoke_operator(self: &mut World, is_own_admin: bool, is_known_operator: bool) {
    let last = &self.operators[self.operators.length() - 1];
    let id = if (is_known_operator) object::id(last) else unknown();
    let admin = if (is_own_admin) &self.admin else &self.foreign_admin;
    self.treasury.revoke_operator(admin, id);
    check_operator_event(id, 0);
}

public fun set_ceiling(
    self: &mut World,
    is_own_admin: bool,
    op: u8,
    curve: u32,
    signature_algorithm: u32,
    ika: u64,
    sui: u64,
) {
    let admin = if (is_own_admin) &self.admin else &self.foreign_admin;
    self.treasury.set_ceiling(admin, op, curve, signature_algorithm, ika, sui);
    let events = events_by_type<CeilingSet>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(event[32] == op && u64_at(&event, 41) == ika && u64_at(&event, 49) == sui);
}

public fun set_paused(self: &mut World, is_own_admin: bool, paused: bool) {
    let admin = if (is_own_admin) &self.admin else &self.foreign_admin;
    self.treasury.set_paused(admin, paused);
    let events = events_by_type<PauseSet>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(event[32] == if (paused) 1 else 0);
}

/// Withdraws all but these amounts.
public fun keep(self: &mut World, ika: u64, sui: u64) {
    let (ika_before, sui_before) = self.treasury.balances();
    self.drain(true, ika_before - ika, sui_before - sui);
    let (ika_after, sui_after) = self.treasury.balances();
    assert!(ika_after == ika && sui_after == sui);
}

/// Withdraws this much more than the Treasury has.
public fun overdraw(self: &mut World, ika: u64, sui: u64) {
    let (ika_before, sui_before) = self.treasury.balances();
    self.drain(true, ika_before + ika, sui_before + sui);
}

public fun drain(self: &mut World, is_own_admin: bool, ika: u64, sui: u64) {
    let admin = if (is_own_admin) &self.admin else &self.foreign_admin;
    self.treasury.drain(admin, ika, sui, SENDER, self.network.ctx());
    let events = events_by_type<Drained>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(u64_at(&event, 64) == ika && u64_at(&event, 72) == sui);
}

public fun release_dwallet(self: &mut World, is_own_admin: bool, dwallet_id: ID) {
    let admin = if (is_own_admin) &self.admin else &self.foreign_admin;
    let cap = self.treasury.release_dwallet(admin, dwallet_id);
    assert!(cap.dwallet_id() == dwallet_id && !self.treasury.has_dwallet(dwallet_id));
    let events = events_by_type<DWalletReleased>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 32) == dwallet_id && id_at(&event, 64) == object::id(&cap));
    self.released.push_back(cap);
}

public fun release_presign(self: &mut World, is_own_admin: bool, presign_id: ID) {
    let admin = if (is_own_admin) &self.admin else &self.foreign_admin;
    let cap = self.treasury.release_presign(admin, presign_id);
    assert!(!self.treasury.has_presign(presign_id));
    let events = events_by_type<PresignReleased>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 32) == presign_id && id_at(&event, 64) == object::id(&cap));
    self.released_presigns.push_back(cap);
}

public fun migrate(self: &mut World, is_own_admin: bool) {
    let admin = if (is_own_admin) &self.admin else &self.foreign_admin;
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

/// The address of a user whose encryption key is of this curve.
public fun user(self: &mut World, curve: u32): address {
    if (!self.users.contains(&curve)) {
        self.network.register_user(&mut self.coordinator, curve);
        self.users.push_back(curve);
    };
    network::user(curve)
}

public fun nobody(): address {
    UNKNOWN
}

public fun complete_presign(self: &mut World) {
    let id = self.last_presign();
    self.network.complete_presign(&mut self.coordinator, id);
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
fun check_session(session: vector<u8>, distance: u64) {
    let events = events_by_type<UserSessionIdentifierRegisteredEvent>();
    let event = bcs::to_bytes(&events[events.length() - distance]);
    let mut preimage = bcs::to_bytes(&SENDER);
    preimage.append(session);
    assert!(tail(&event, 32) == bcs::to_bytes(&keccak256(&preimage)));
}

fun check_operator_event(operator_cap_id: ID, authorised: u8) {
    let events = events_by_type<OperatorSet>();
    let event = bcs::to_bytes(&events[events.length() - 1]);
    assert!(id_at(&event, 32) == operator_cap_id && event[64] == authorised);
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
