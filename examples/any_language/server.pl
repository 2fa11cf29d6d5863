#!/usr/bin/perl
# The lease service of ../lease as a program in another language, which needs nothing but Perl. It is told on its input
# what to do, and says on its output what happened, a line of JSON each. `server.pl careless`: with the mistake in it.
use strict;
use warnings;
$| = 1;    # an answer leaves at once

my $LEASE_SECONDS = 10;
my $WRITE_SECONDS = 2;
my $TICK          = 0.5;
my $careless      = @ARGV && $ARGV[0] eq 'careless';

my ($now, $number, $until, $seen, @workers, @events);

sub begin {
    ($now, $number, $until, $seen) = (0, 0, 0, 0);
    @workers = map { { name => "Worker-$_", number => 0, until => 0, ready => 0, checked => 0, paused => 0 } } 1, 2;
}

sub show {
    my ($node, $event, $fields) = @_;
    push @events, qq({"node": "$node", "event": "$event", "fields": {$fields}});
}

# What the store does with what a worker has written.
sub store {
    my ($given) = @_;
    my $accepted = $careless || $given >= $seen;
    $seen = $given if $accepted;
    show('Store-1', $accepted ? 'written' : 'refused', qq("number": $given));
}

# The next thing that a worker does, if it is time.
sub work {
    my ($worker) = @_;
    if ($worker->{checked}) {    # the lease was still good a moment ago
        $worker->{checked} = 0;
        store($worker->{number});
        $worker->{ready} = $now + $WRITE_SECONDS;
    } elsif ($worker->{number} && $now >= $worker->{until}) {
        $worker->{number} = 0;
        show($worker->{name}, 'lapsed', '');
    } elsif (!$worker->{number}) {
        return if $now < $until;
        $number++;
        $until = $now + $LEASE_SECONDS;
        @$worker{qw(number until ready)} = ($number, $until, $now + $WRITE_SECONDS);
        show($worker->{name}, 'given', qq("number": $number));
    } else {
        $worker->{checked} = $now >= $worker->{ready};
    }
}

while (my $request = <STDIN>) {
    if ($request =~ /"hacheck": *1\b/) {
        print qq({"hacheck": 1}\n);
        next;
    }
    # A program that has a library for JSON uses it; these requests are simple enough without.
    my ($do)      = $request =~ /"do": *"(\w+)"/         or die "no request: $request";
    my ($seconds) = $request =~ /"seconds": *([\d.e+-]+)/;
    my ($worker)  = $request =~ /"n": *"Worker-(\d+)"/;
    @events = ();
    if    ($do eq 'start')  { begin() }
    elsif ($do eq 'pause')  { $workers[$worker - 1]{paused} = 1 }
    elsif ($do eq 'resume') { $workers[$worker - 1]{paused} = 0 }
    elsif ($do eq 'wait') {
        for (my $end = $now + $seconds; $now < $end;) {
            $now += $TICK;
            $_->{paused} or work($_) for @workers;
        }
    }
    elsif ($do ne 'stop') { die "cannot do $do" }
    printf qq({"done": true, "events": [%s]}\n), join(', ', @events);
}
