/*
 * One payout: its row and ledger, its row of work, the workers, the network, the bank, and the people who decide. Each
 * atomic block is one database transaction, one call to the bank, or one step of somebody else. The workers follow
 * PayoutProcessor. docs/design/payouts.md explains the rules.
 *
 *   spin -a payouts.pml && gcc -O2 -DSAFETY -o pan pan.c && ./pan             money and calls
 *   spin -a -DLIVENESS payouts.pml && gcc -O2 -o pan pan.c && ./pan -a -f     no payout waits for ever
 *   spin -t -p -g payouts.pml                                                 the steps to an error
 *
 * With -DBREAK_<rule> the processor ignores one of its rules: spin then finds the harm that the rule prevents.
 */

#define AMOUNT 2

#ifndef WORKERS
#define WORKERS 2
#endif
/* Requests that arrive when nobody waits for their answer any more. */
#ifndef MAX_LATE
#define MAX_LATE 2
#endif

mtype:Status = { AWAITING, QUEUED, SENDING, PAID, FAILED, CANCELLED, REFUNDED }
mtype:Trigger = { approved, disapproved, cancelled, stopped, sent, put_back, paid, refused, revoked, returned }
/* HELD: the bank has the payout, and its look-up does not show it yet. */
mtype:BankState = { NONE, HELD, PROCESSING, REVIEW, DONE, REJECTED }
mtype:Answer = { NO_ANSWER, TAKEN, REFUSAL, BAD_RECEIVER, NOT_NOW, UNKNOWN, NOT_FOUND, IS_PAID, IS_FAILED }
/* Time since the first call: lost calls are repeated, then the quiet window runs, then it is over. */
mtype:Age = { REPEATING, WAITING, OVER }

/* The row. */
mtype:Status status;
mtype:Age age = REPEATING;
bool recorded[AMOUNT];
byte sendId;

/* The ledger, after the payout was accepted. */
byte available = 0, reserved = AMOUNT, clearing = 0;

/* The row of work, the worker that has its lease (0: nobody), and the bank's report in the inbox. */
bool work, report;
byte owner;

/* The bank and the network. Only a planted fault uses a second id. */
#define IDS 2
mtype:BankState bank[IDS] = NONE;
byte late[IDS], payments, cameBack;
bool isNotFoundFinal, isReceiverBad, hasRepeatedReport;
/* Workers that have decided to call and not called yet. */
byte callers;

#ifdef LIVENESS
bool faults = true;
#else
#define faults true
#endif

inline give_back() { available = available + reserved; reserved = 0 }
inline pay_out() { clearing = clearing + reserved; reserved = 0 }
inline take_back() { available = available + clearing; clearing = 0 }

/* The machine. A spec compares these rows with PAYOUT_MOVES. */
inline change(event) {
  if
  :: event == approved && status == AWAITING -> status = QUEUED
  :: event == disapproved && status == AWAITING -> status = CANCELLED; give_back()
  :: event == cancelled && status == AWAITING -> status = CANCELLED; give_back()
  :: event == cancelled && status == QUEUED -> status = CANCELLED; give_back()
  :: event == stopped && status == QUEUED -> status = FAILED; give_back()
  :: event == sent && status == QUEUED -> status = SENDING
  :: event == put_back && status == SENDING -> status = QUEUED
  :: event == paid && status == SENDING -> status = PAID; pay_out()
  :: event == refused && status == SENDING -> status = FAILED; give_back()
  :: event == revoked && status == PAID -> status = FAILED; take_back()
  :: event == returned && status == PAID -> status = REFUNDED
  :: else -> assert(false)
  fi
}

#ifdef REPORT_MOVES
/* Prints each move that happens, with the numbers of the statuses. */
hidden byte before;
#define move(event) before = status; change(event); \
  c_code { static int reported[9]; if (!reported[before]++) printf("move %s %d %d\n", #event, before, now.status); }
#else
#define move(event) change(event)
#endif

/* The bank answers a request. It takes a repeated id for the same payout, but may refuse before it looks at the id. */
inline receive(id) {
  if
  :: isReceiverBad -> answer = BAD_RECEIVER
  :: !isReceiverBad && bank[id] == NONE -> bank[id] = HELD; answer = TAKEN
  /* Refused and kept, or refused and forgotten: then the same id may be taken later. */
  :: !isReceiverBad && bank[id] == NONE -> bank[id] = REJECTED; answer = REFUSAL
  :: !isReceiverBad && bank[id] == NONE -> answer = REFUSAL
  :: faults -> answer = NOT_NOW
  /* A repetition: taken for the same payout, 409, or refused because the first one used the balance. */
  :: bank[id] != NONE -> answer = TAKEN
  :: bank[id] != NONE -> answer = UNKNOWN
  :: bank[id] != NONE -> answer = REFUSAL
  fi
}

proctype Bank(byte id) {
  mtype:Answer answer;
end:
  do
  :: atomic { late[id] > 0 -> late[id]--; receive(id); answer = NO_ANSWER }
  :: atomic { bank[id] == HELD -> bank[id] = PROCESSING }
  :: atomic { bank[id] == PROCESSING -> bank[id] = REVIEW }
  :: atomic { bank[id] == PROCESSING || bank[id] == REVIEW ->
       assert(payments == 0);
#ifndef ONLY_PAYMENTS
       assert(reserved == AMOUNT);
#endif
       bank[id] = DONE; payments++; report = true
     }
  :: atomic { bank[id] == PROCESSING || bank[id] == REVIEW -> bank[id] = REJECTED; report = true }
  :: atomic { bank[id] == DONE && cameBack < AMOUNT -> cameBack++; report = true }
  /* The bank takes its word back. */
  :: atomic { bank[id] == DONE && cameBack < AMOUNT -> bank[id] = REJECTED; report = true }
#ifndef LIVENESS
  :: atomic { (bank[id] == DONE || bank[id] == REJECTED) && !hasRepeatedReport -> hasRepeatedReport = true; report = true }
#endif
#ifdef BREAK_SAME_RECEIVER
  /* The receiver's key is deleted, or its account closed. */
  :: atomic { !isReceiverBad -> isReceiverBad = true }
#endif
  od
}

#define isUnderWay(id) (late[id] > 0 || bank[id] == HELD)

/* Time. The quiet window outlasts each call, each request under way, and the time in which the bank hides a payout. */
proctype Clock() {
end:
  do
#ifndef BREAK_LAST_CALL
  :: atomic { status == SENDING && age == REPEATING -> age = WAITING }
#endif
  :: atomic { status == SENDING && age == WAITING && callers == 0 && !isUnderWay(0) && !isUnderWay(1) -> age = OVER }
#ifdef LIVENESS
  :: atomic { faults -> faults = false }
#endif
  od
}

/* The merchant and the second person. */
proctype People() {
end:
  do
  :: atomic { status == AWAITING -> move(approved); work = true; owner = 0 }
  :: atomic { status == AWAITING -> move(disapproved) }
  :: atomic { status == AWAITING || status == QUEUED -> move(cancelled) }
  od
}

#ifdef BREAK_OPERATOR_WAITS
#define operatorMayRefuse true
#else
#define operatorMayRefuse (age == OVER)
#endif

/* An operator reads the bank's books. "Paid" is written later, when the bank may have taken it back. */
proctype Operator() {
end:
  do
  :: atomic { status == SENDING && operatorMayRefuse && bank[sendId] != PROCESSING && bank[sendId] != REVIEW && bank[sendId] != DONE ->
       move(refused)
     }
  :: atomic { status == SENDING && bank[sendId] == DONE };
     atomic {
       if
       :: status == SENDING -> move(paid)
       :: else
       fi
     }
  od
}

/* A report of the bank is not believed. It makes the work new: the current run has lost its lease. */
proctype Listener() {
end:
  do
  :: atomic { report -> report = false; work = true; owner = 0 }
  od
}

inline may_die() {
  if
  :: faults -> goto idle
  :: true
  fi
}

/* `prolong()`: throws if another run has the work, or if the work was made new. */
inline prolong() {
  if
  :: owner == me
  :: else -> goto idle
  fi
}

/* `prolong(tx)` in a transaction that writes an outcome. */
inline hold_lease() {
#ifdef BREAK_LEASE
  skip
#else
  prolong()
#endif
}

inline decide_to_call() { isCalling = true; callers++ }

inline record_return(i) {
  recorded[i] = true; clearing--; available++;
  if
  :: clearing == 0 -> move(returned)
  :: else
  fi
}

#ifdef BREAK_RETURN_ID
#define isNew(i) true
#else
#define isNew(i) !recorded[i]
#endif

/* The last time at which "not found" of a look-up was known to be true is its begin. */
#ifdef BREAK_AGE_AT_LOOK_UP
#define ageOfAnswer age
#else
#define ageOfAnswer ageAtLookUp
#endif

/* Runs, one after another. With faults a lease also ends while its owner is slow, so that runs overlap. */
proctype Worker(byte me) {
  mtype:Answer answer;
  mtype:Age ageAtLookUp = REPEATING;
  bool isCalling, isFirst, wasPaid;
  byte back;

  atomic {
    skip;
idle:
    if
    :: owner == me -> owner = 0
    :: else
    fi;
    callers = callers - isCalling; isCalling = false; isFirst = false; wasPaid = false;
    answer = NO_ANSWER; ageAtLookUp = REPEATING; back = 0;
end:
    work && (faults || owner == 0) -> owner = me;
    if
    :: status == QUEUED -> goto begin
    :: status == SENDING || status == PAID ->
       wasPaid = (status == PAID); ageAtLookUp = age; goto look_up
    :: else -> goto finish
    fi
  }

begin:
  atomic {
    may_die();
    if
    :: status == QUEUED -> move(stopped); goto finish
    :: status == QUEUED -> move(sent); age = REPEATING; isFirst = true; decide_to_call()
    :: status != QUEUED -> goto idle
    fi
  }
  atomic { may_die(); prolong() }

call:
  atomic {
    may_die();
    if
    :: receive(sendId)
    /* The request is lost, its answer is lost, or it arrives later. */
    :: faults -> answer = UNKNOWN
    :: faults -> receive(sendId); answer = UNKNOWN
    :: faults && late[sendId] < MAX_LATE -> late[sendId]++; answer = UNKNOWN
    fi;
    callers = callers - isCalling; isCalling = false;
    if
    :: answer == BAD_RECEIVER || isFirst && (answer == REFUSAL || answer == NOT_NOW) -> goto record
#ifdef BREAK_REPEATED_REFUSAL
    :: answer == REFUSAL && !isFirst -> goto record
#endif
#ifdef BREAK_SAME_ID
    :: answer == UNKNOWN && isFirst -> sendId = 1; isFirst = false; decide_to_call(); goto call
#endif
    :: else -> goto idle
    fi
  }

look_up:
  atomic {
    may_die();
    prolong();
    if
    :: faults -> goto idle
    :: bank[sendId] == NONE || bank[sendId] == HELD -> answer = NOT_FOUND
    :: bank[sendId] == PROCESSING || bank[sendId] == REVIEW ->
       if
       :: wasPaid -> goto finish
       :: else -> goto idle
       fi
    :: bank[sendId] == DONE -> answer = IS_PAID; back = cameBack
    :: bank[sendId] == REJECTED -> answer = IS_FAILED
    fi;
    if
    :: answer == NOT_FOUND && wasPaid -> goto finish
    :: else
    fi
  }

record:
  atomic {
    may_die();
    if
    :: answer == NOT_NOW -> hold_lease();
       if
       :: status == SENDING -> move(put_back); age = REPEATING
       :: else
       fi;
       goto idle
    :: answer == NOT_FOUND ->
       if
       :: age == REPEATING -> prolong(); decide_to_call(); goto call
#ifdef BREAK_QUIET_WINDOW
       :: isNotFoundFinal -> hold_lease()
#else
       :: age != REPEATING && ageOfAnswer == OVER && isNotFoundFinal -> hold_lease()
#endif
       :: age != REPEATING && (ageOfAnswer != OVER || !isNotFoundFinal) -> goto idle
       fi;
       if
       :: status == SENDING -> move(refused); goto finish
       :: else -> goto idle
       fi
    :: answer == IS_PAID ->
       if
       :: status == SENDING -> move(paid)
       :: else
       fi;
       goto returns
    :: answer == REFUSAL || answer == BAD_RECEIVER || answer == IS_FAILED ->
       if
       :: !wasPaid -> hold_lease()
       :: else
       fi;
       if
       :: !wasPaid && status == SENDING -> move(refused); goto finish
       :: wasPaid && status == PAID -> move(revoked); goto finish
#ifdef BREAK_MOVED_MEANWHILE
       :: else -> goto finish
#else
       :: else -> goto idle
#endif
       fi
    fi
  }

returns:
  atomic {
    may_die();
    if
    :: status == PAID && back > 0 ->
       back--;
       if
       :: isNew(back) -> record_return(back)
       :: else
       fi;
       goto returns
    :: else
    fi
  }

/* 'done': the work is over, if no other run has it. */
finish:
  atomic {
    may_die();
    if
    :: owner == me -> work = false
    :: else
    fi;
    goto idle
  }
}

#define isEnded (status == FAILED || status == CANCELLED || status == REFUNDED)
#define returnedMoney (recorded[0] + recorded[1])

#define isLedgerRight ( \
  available + reserved + clearing == AMOUNT && \
  (status == PAID || isEnded || reserved == AMOUNT) && \
  (status != PAID || available == returnedMoney && clearing == AMOUNT - returnedMoney) && \
  (!isEnded || available == AMOUNT))

/* FAILED and CANCELLED: the bank has not paid, and the assertion at its payment says that it never will. */
#define isBankRight ( \
  (status != FAILED && status != CANCELLED || bank[0] != DONE) && \
  (status != PAID || payments == 1) && \
  (status != REFUNDED || bank[0] == DONE && cameBack == AMOUNT))

#define isSettled (status != PAID || bank[0] == DONE && cameBack == returnedMoney)
#define isForgotten ((status == QUEUED || status == SENDING) && !work)

init {
  atomic {
    if
#ifndef LIVENESS
    :: status = AWAITING
#endif
    :: status = QUEUED; work = true
    fi;
    if
    :: isNotFoundFinal = true
    :: isNotFoundFinal = false
    :: isReceiverBad = true
    fi;
    run Clock(); run People(); run Operator(); run Listener(); run Bank(0);
#ifdef BREAK_SAME_ID
    run Bank(1);
#endif
    run Worker(1);
#if WORKERS > 1
    run Worker(2);
#endif
#if WORKERS > 2
    run Worker(3)
#endif
  }
#if !defined(LIVENESS) && !defined(ONLY_PAYMENTS)
  /* Watches each state. */
end:
  if
  :: atomic { !isLedgerRight -> assert(isLedgerRight) }
  :: atomic { !isBankRight -> assert(isBankRight) }
  :: atomic { !report && !work && !isSettled -> assert(isSettled) }
  :: atomic { isForgotten -> assert(!isForgotten) }
  fi
#endif
}

#ifdef LIVENESS
#define needsOperator (age == OVER && !isNotFoundFinal && bank[0] == NONE)
/* Once faults stop, a payout is not SENDING for ever unless the bank reviews it or only an operator can decide. */
ltl ends { <>[] (faults || (status != SENDING || bank[0] == REVIEW || needsOperator) && isSettled) }
#endif
