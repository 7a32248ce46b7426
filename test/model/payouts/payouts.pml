/*
 * One payout: its row and ledger, the workers, the network, the bank, and the people who decide. Each atomic block is
 * one database transaction, one call to the bank, or one step of somebody else. docs/design/payouts.md explains it.
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
/* Calls to send that are begun. The pauses grow, so that few of them fit into a quiet window. */
#ifndef MAX_CALLS
#define MAX_CALLS 3
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

/* The row. `calls` stands for the time of the last call, `young` for less than a quiet window since then. */
mtype:Status status;
byte calls, sendId;
bool young, recorded[AMOUNT];

/* The ledger, after the payout was accepted. */
byte available = 0, reserved = AMOUNT, clearing = 0;

/* Hints of the bank: in the inbox, and in the hands of workers. */
bool hint;
byte handledHints;

/* The bank and the network. Only a planted fault uses a second id. */
#define IDS 2
mtype:BankState bank[IDS] = NONE;
byte late[IDS], payments, cameBack;
bool isNotFoundFinal, isReceiverBad, hasRepeatedHint;
/* Workers between the mark of a call in the row and the call. */
byte callers;

#ifdef LIVENESS
bool faults = true;
#else
#define faults true
#endif

/* The rules of the processor that can be broken. */
#if defined(BREAK_QUIET_WINDOW)
#define isQuiet true
#elif defined(BREAK_QUIET_SINCE_LOOK_UP)
#define isQuiet !young
#else
#define isQuiet (wasOld && calls == seenCalls)
#endif
#ifdef BREAK_ONLY_CALL
#define isOnlyCall true
#else
#define isOnlyCall (calls == seenCalls)
#endif
#ifdef BREAK_STATUS_AT_RECORD
#define isRevocation wasPaid
#else
#define isRevocation true
#endif
#ifdef BREAK_RETURN_ID
#define isNew(i) true
#else
#define isNew(i) !recorded[i]
#endif
#ifdef BREAK_LAST_CALL
#define mayRepeat true
#else
#define mayRepeat (calls < MAX_CALLS)
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

/* The bank answers a request. It takes a repeated id for the same payout. */
inline receive(id) {
  if
  /* Every call has the same receiver, so the bank refuses each of them. */
  :: isReceiverBad -> answer = BAD_RECEIVER
  :: !isReceiverBad && bank[id] == NONE -> bank[id] = HELD; answer = TAKEN
  /* Refused and kept, or refused and forgotten: then the same id may be taken later. */
  :: !isReceiverBad && bank[id] == NONE -> bank[id] = REJECTED; answer = REFUSAL
  :: !isReceiverBad && bank[id] == NONE -> answer = REFUSAL
  :: faults && calls < MAX_CALLS -> answer = NOT_NOW
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
       bank[id] = DONE; payments++; hint = true
     }
  :: atomic { bank[id] == PROCESSING || bank[id] == REVIEW -> bank[id] = REJECTED; hint = true }
  :: atomic { bank[id] == DONE && cameBack < AMOUNT -> cameBack++; hint = true }
  /* The bank takes its word back. */
  :: atomic { bank[id] == DONE && cameBack < AMOUNT -> bank[id] = REJECTED; hint = true }
#ifndef LIVENESS
  :: atomic { (bank[id] == DONE || bank[id] == REJECTED) && !hasRepeatedHint -> hasRepeatedHint = true; hint = true }
#endif
  od
}

#define isUnderWay(id) (late[id] > 0 || bank[id] == HELD)

/* Time. The quiet window outlasts each call, each request under way, and the time in which the bank hides a payout. */
proctype Clock() {
end:
  do
  :: atomic { young && callers == 0 && !isUnderWay(0) && !isUnderWay(1) -> young = false }
#ifdef LIVENESS
  :: atomic { faults -> faults = false }
#endif
  od
}

/* The merchant and the second person. */
proctype People() {
end:
  do
  :: atomic { status == AWAITING -> move(approved) }
  :: atomic { status == AWAITING -> move(disapproved) }
  :: atomic { status == AWAITING || status == QUEUED -> move(cancelled) }
  od
}

/* An operator reads the bank's books after the quiet window, and decides later. */
proctype Operator() {
  mtype:Answer seen;
  byte seenCalls;
end:
  do
  :: atomic {
       status == SENDING && !young ->
       if
       :: bank[sendId] == NONE || bank[sendId] == REJECTED -> seen = IS_FAILED
       :: bank[sendId] == DONE -> seen = IS_PAID
       fi;
       seenCalls = calls
     }
     atomic {
       if
       :: status == SENDING && calls == seenCalls && seen == IS_PAID -> move(paid)
       :: status == SENDING && calls == seenCalls && seen == IS_FAILED -> move(refused)
       :: else
       fi;
       seen = NO_ANSWER; seenCalls = 0
     }
  od
}

/* The row says that a call begins, and when, before it is made. */
inline begin_call() {
#ifdef BREAK_LAST_CALL
  calls = calls % MAX_CALLS;
#endif
  calls++; seenCalls = calls; young = true; isCalling = true; callers++
}

inline record_return(i) {
  recorded[i] = true; clearing--; available++;
  if
  :: clearing == 0 -> move(returned)
  :: else
  fi
}

/* A run ends before this step. Its work and its hint stay, and are due again. */
inline may_die() {
  if
  :: faults -> hint = hint || isHinted; goto done
  :: true
  fi
}

/* Runs of one process after another. Two workers may run at once: a lease ends also while its owner is slow. */
proctype Worker() {
  mtype:Answer answer;
  bool isHinted, isCalling, isFirst, wasRefused, wasOld;
#ifdef BREAK_STATUS_AT_RECORD
  bool wasPaid;
#endif
  byte seenCalls, back;

  atomic {
    skip;
done:
    handledHints = handledHints - isHinted; callers = callers - isCalling;
    answer = NO_ANSWER; isHinted = false; isCalling = false; isFirst = false; wasRefused = false; wasOld = false;
    seenCalls = 0; back = 0;
end:
    if
    :: status == QUEUED || status == SENDING
    :: hint -> hint = false; isHinted = true; handledHints++
    fi;
    if
    :: status == QUEUED -> move(stopped); goto done
    :: status == QUEUED -> move(sent); isFirst = true; begin_call(); goto call
    :: status == SENDING || (status == PAID && isHinted) -> goto read
    :: else -> goto done
    fi
  }

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
#else
    :: answer == REFUSAL && !isFirst -> wasRefused = true; goto read
#endif
#ifdef BREAK_SAME_ID
    :: answer == UNKNOWN && isFirst -> sendId = 1; isFirst = false; begin_call(); goto call
#endif
    :: else -> goto done
    fi
  }

/* The look-up counts for the row as it was before it. */
read:
  atomic {
    wasOld = !young; seenCalls = calls
#ifdef BREAK_STATUS_AT_RECORD
    ; wasPaid = (status == PAID)
#endif
  }

  atomic {
    may_die();
    if
    /* No answer: a hint stays in the inbox. */
    :: faults -> hint = hint || isHinted; goto done
    :: bank[sendId] == NONE || bank[sendId] == HELD -> answer = NOT_FOUND
    :: bank[sendId] == PROCESSING || bank[sendId] == REVIEW -> goto done
    :: bank[sendId] == DONE -> answer = IS_PAID; back = cameBack
    :: bank[sendId] == REJECTED -> answer = IS_FAILED
    fi
  }

record:
  atomic {
    may_die();
    if
    :: status == SENDING && answer == BAD_RECEIVER -> move(refused)
    :: status == SENDING && answer == REFUSAL && isOnlyCall -> move(refused)
    :: status == SENDING && answer == NOT_NOW && isOnlyCall -> move(put_back)
    :: status == SENDING && answer == NOT_FOUND && isQuiet && isNotFoundFinal -> move(refused)
    :: status == SENDING && answer == NOT_FOUND && young && !wasRefused && mayRepeat ->
       isFirst = false;
#ifndef BREAK_MARKED_CALL
       begin_call();
#endif
       goto call
    :: status == SENDING && answer == IS_PAID -> move(paid); goto returns
    :: status == PAID && answer == IS_PAID -> goto returns
    :: status == SENDING && answer == IS_FAILED -> move(refused)
    :: status == PAID && answer == IS_FAILED && isRevocation -> move(revoked)
    :: else
    fi;
    goto done
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
    :: else -> goto done
    fi
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

init {
  atomic {
    if
#ifndef LIVENESS
    :: status = AWAITING
#endif
    :: status = QUEUED
    fi;
    if
    :: isNotFoundFinal = true
    :: isNotFoundFinal = false
    :: isReceiverBad = true
    fi;
    run Clock(); run People(); run Operator(); run Bank(0);
#ifdef BREAK_SAME_ID
    run Bank(1);
#endif
    run Worker();
#if WORKERS > 1
    run Worker();
#endif
#if WORKERS > 2
    run Worker()
#endif
  }
#if !defined(LIVENESS) && !defined(ONLY_PAYMENTS)
  /* Watches each state. */
end:
  if
  :: atomic { !isLedgerRight -> assert(isLedgerRight) }
  :: atomic { !isBankRight -> assert(isBankRight) }
  :: atomic { !hint && handledHints == 0 && !isSettled -> assert(isSettled) }
  fi
#endif
}

#ifdef LIVENESS
#define needsOperator (!young && !isNotFoundFinal && bank[0] == NONE)
/* Once faults stop, a payout is not SENDING for ever unless the bank reviews it or only an operator can decide. */
ltl ends { <>[] (faults || (status != SENDING || bank[0] == REVIEW || needsOperator) && isSettled) }
#endif
