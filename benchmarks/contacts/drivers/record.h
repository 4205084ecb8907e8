// What all drivers share: numbers of a flat scene file, timed steps, and what a driver leaves.
#pragma once
#include <time.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

static double number(FILE* f) { double x; if (fscanf(f, "%lf", &x) != 1) exit(3); return x; }
static void numbers(FILE* f, double* x, int n) { for (int i = 0; i < n; i++) x[i] = number(f); }

// The thread's time on the processor: other work on the machine does not count.
static double now_us() {
  timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e6 + t.tv_nsec * 1e-3;
}

struct Record {
  std::vector<double> times, states, contacts;
  void put(const double* x, int n) { states.insert(states.end(), x, x + n); }
  void write(const std::string& out, const char* about) const {
    FILE* f = fopen((out + "/times.f64").c_str(), "wb"); fwrite(times.data(), 8, times.size(), f); fclose(f);
    f = fopen((out + "/states.f64").c_str(), "wb"); fwrite(states.data(), 8, states.size(), f); fclose(f);
    f = fopen((out + "/contacts.f64").c_str(), "wb"); fwrite(contacts.data(), 8, contacts.size(), f); fclose(f);
    f = fopen((out + "/about.txt").c_str(), "w"); fprintf(f, "%s\n", about); fclose(f);
  }
};

// All steps of a scene, `every` of them timed together; `look` adds contacts and states to the record untimed.
template <class Scene, class Step, class Look> static Record timed(const Scene& s, Step step, Look look) {
  Record r;
  for (int k = 0; k < s.steps; k += s.every) {
    double began = now_us();
    for (int i = 0; i < s.every; i++) step();
    r.times.push_back((now_us() - began) / s.every);
    look(r);
  }
  return r;
}
