#include "widelimit/kernel/file/store_gram.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/kernel/block_work.hpp"
#include "widelimit/kernel/inputs.hpp"

#include <algorithm>

namespace widelimit {

namespace {

using Json = nlohmann::ordered_json;

/// Edge of the squares in which matrices lie in the file: a megabyte of float32, which is what HDF5 keeps in its cache.
constexpr Index chunk_edge = 512;
/// Where neither the caller nor the system says how much there is.
constexpr std::size_t usual_memory = std::size_t{1} << 30;

const void* first_byte(const SampleView& x) {
  return std::visit([](const auto& rows) { return static_cast<const void*>(rows.data); }, x.values);
}

std::size_t bytes_of(const SampleView& x) {
  return std::visit(
      [](const auto& rows) { return static_cast<std::size_t>(rows.rows * rows.cols) * sizeof(*rows.data); }, x.values);
}

/// The sample sets of all blocks, each once.
std::vector<SampleView> distinct_sets(std::span<const GramBlock> blocks) {
  std::vector<SampleView> sets;
  const auto add = [&](const SampleView& x) {
    const auto same = [&](const SampleView& y) { return first_byte(x) == first_byte(y) && x.count() == y.count(); };
    if (std::none_of(sets.begin(), sets.end(), same)) sets.push_back(x);
  };
  for (const GramBlock& block : blocks) {
    add(block.x1);
    if (block.x2) add(*block.x2);
  }
  return sets;
}

void check_blocks(std::span<const Network> networks, std::span<const GramBlock> blocks) {
  if (networks.empty() || blocks.empty()) fail(Code::usage, "a Gram needs a network and samples");
  for (const GramBlock& block : blocks) {
    check_same_shape(blocks.front().x1, block.x1);
    check_same_shape(block.x1, block.x2.value_or(block.x1));
  }
  for (const SampleView& x : distinct_sets(blocks)) check_samples(x);
}

std::string kind_text(Kind kind) {
  if (kind == Kind::both) return "nngp,ntk";
  return kind == Kind::nngp ? "nngp" : "ntk";
}

Fingerprint fingerprint_of(std::span<const Network> networks, std::span<const GramBlock> blocks,
                           const StoreOptions& options) {
  Fingerprint result = Fingerprint::object();
  for (const GramBlock& block : blocks) {
    result[block.prefix + (block.x2 ? "rows" : "samples")] = describe_samples(block.x1);
    if (block.x2) result[block.prefix + "columns"] = describe_samples(*block.x2);
  }
  for (std::size_t k = 0; k < networks.size(); ++k) {
    result[networks.size() == 1 ? "network" : fmt::format("network {}", k + 1)] = networks[k].to_text();
  }
  result["kind"] = kind_text(options.kind);
  result["precision"] = to_string(options.precision);
  return result;
}

/// Everything a run needs, before any of it is done.
struct Work {
  std::vector<Recipe> recipes;
  std::vector<BlockJob> jobs;
  std::vector<TiledMatrix> matrices;
  std::vector<PanelPlan> plans;
};

void add_matrices(Work& work, const std::string& prefix, const GramBlock& block, const StoreOptions& options) {
  const Index rows = block.x1.count();
  const Index cols = block.x2 ? block.x2->count() : rows;
  for (const Kind kind : {Kind::nngp, Kind::ntk}) {
    if (!has(options.kind, kind)) continue;
    work.matrices.push_back({prefix + block.prefix + kind_text(kind), options.precision, rows, cols,
                             std::min(rows, chunk_edge), std::min(cols, chunk_edge), 0});
  }
}

Work lay_out_work(std::span<const Network> networks, std::span<const GramBlock> blocks, const StoreOptions& options) {
  Work work;
  for (const Network& network : networks) {
    work.recipes.push_back(lower(network, blocks.front().x1.shape, wanted(options.kind)));
  }
  for (std::size_t k = 0; k < networks.size(); ++k) {
    const std::string prefix = networks.size() == 1 ? "" : fmt::format("network{}/", k + 1);
    for (const GramBlock& block : blocks) {
      work.jobs.push_back({&work.recipes[k], block.x1, block.x2, work.matrices.size(), work.jobs.size()});
      add_matrices(work, prefix, block, options);
    }
  }
  return work;
}

void plan(Work& work, std::size_t samples, std::size_t records, const StoreOptions& options, const Engine& engine) {
  const std::size_t budget = options.memory.value_or(samples + available_memory().value_or(2 * usual_memory) / 2);
  for (const BlockJob& job : work.jobs) {
    PanelNeeds needs{.rows = job.x1.count(), .cols = job.columns().count(), .symmetric = job.symmetric()};
    needs.edge = job.edge(engine);
    needs.sample_bytes = engine.kernels().loaded_bytes(*job.recipe, options.precision);
    needs.fixed_bytes = samples + records * sizeof(Journal::Record) + tile_bytes(engine, job, options.precision);
    needs.budget = budget;
    needs.most = options.most_loaded;
    work.plans.push_back(plan_panels(needs));
  }
}

/// The largest error by quadrature that any sample meets; where all formulas are closed there is none to look for.
double quadrature_error(const Work& work, std::span<const Network> networks, std::span<const GramBlock> blocks,
                        const StoreOptions& options, const Engine& engine) {
  double error = 0;
  for (std::size_t k = 0; k < networks.size(); ++k) {
    if (exactness(networks[k]) == Exactness::closed_form) continue;
    for (const SampleView& x : distinct_sets(blocks)) {
      const Index step = std::max<Index>(1, work.plans[k * blocks.size()].cols);
      for (Index first = 0; first < x.count(); first += step) {
        const Index count = std::min(step, x.count() - first);
        ProgressTicker ticker(options.progress, x.count(), "samples");
        const auto loaded = engine.kernels().load(work.recipes[k], x.part(first, count), options.precision,
                                                  [&](Index done) { ticker.at(first + done); });
        error = std::max(error, loaded->quadrature_error());
      }
    }
  }
  return error;
}

std::string settings_text(const StoreOptions& options, const StoreSummary& summary) {
  Json settings = options.settings;
  settings["route"] = summary.routes.size() == 1 ? Json(summary.routes.front()) : Json(summary.routes);
  settings["quadrature_error"] = summary.quadrature_error;
  return settings.dump(2, ' ', false, Json::error_handler_t::replace);
}

/// What the file says of itself, where this run did not begin it.
double stored_quadrature_error(const GramStore& store) {
  const Json settings = Json::parse(store.settings(), nullptr, false);
  return settings.is_object() ? settings.value("quadrature_error", 0.0) : 0.0;
}

Index finished_pairs(const Work& work, const GramStore& store, const Engine& engine) {
  Index pairs = 0;
  for (std::size_t k = 0; k < work.jobs.size() && store.resumed(); ++k) {
    const BlockJob& job = work.jobs[k];
    const Index edge = job.edge(engine);
    each_panel_pair(job, work.plans[k], edge, [&](Range, Range, const std::vector<Tile>& tiles) {
      for (const Tile& tile : tiles) pairs += store.finished(job.key(tile)) ? job.pairs(tile) : 0;
    });
  }
  return pairs;
}

void compute(const Work& work, const StoreOptions& options, const Engine& engine, GramStore& store,
             StoreSummary& summary) {
  Index total = 0;
  for (const BlockJob& job : work.jobs) total += job.pairs();
  const Index kept = finished_pairs(work, store, engine);
  PairProgress progress(options.progress, total - kept);
  for (std::size_t k = 0; k < work.jobs.size(); ++k) {
    const BlockJob& job = work.jobs[k];
    const auto counts = options.precision == Precision::f32
                            ? run_block<float>(job, work.plans[k], engine, store, progress)
                            : run_block<double>(job, work.plans[k], engine, store, progress);
    for (std::size_t s = 0; s < counts.size(); ++s) {
      Entries& entries = summary.matrices[job.first_matrix + s].entries;
      const double count = static_cast<double>(entries.rows) * static_cast<double>(entries.cols);
      if (count == 0) continue;
      entries.smallest = counts[s].smallest;
      entries.largest = counts[s].largest;
      entries.mean = counts[s].sum / count;
      if (job.symmetric()) entries.trace = counts[s].trace;
    }
  }
  summary.pairs = static_cast<double>(progress.done());
  summary.pairs_kept = static_cast<double>(total - progress.done());
}

}  // namespace

StoreSummary store_gram(const std::filesystem::path& path, std::span<const Network> networks,
                        std::span<const GramBlock> blocks, const StoreOptions& options, const Engine& engine) {
  const auto start = Clock::now();
  check_blocks(networks, blocks);
  Work work = lay_out_work(networks, blocks, options);
  StoreSummary summary;
  for (const TiledMatrix& matrix : work.matrices) {
    summary.matrices.push_back({matrix.name, {.rows = matrix.rows, .cols = matrix.cols}});
  }
  for (const Recipe& recipe : work.recipes) summary.routes.push_back(engine.kernels().route(recipe, options.precision));

  GramStore store(path, fingerprint_of(networks, blocks, options), options.existing);
  summary.complete_before = store.complete();
  if (store.complete()) {
    summary.quadrature_error = stored_quadrature_error(store);
    return summary;
  }
  std::size_t samples = 0;
  for (const SampleView& x : distinct_sets(blocks)) samples += bytes_of(x);
  plan(work, samples, store.records().size(), options, engine);
  for (std::size_t k = 0; k < work.plans.size(); ++k) {
    const PanelPlan& panel = work.plans[k];
    summary.memory = std::max(summary.memory, panel.bytes);
    if (panel.rows > 0) summary.panels += (work.jobs[k].x1.count() + panel.rows - 1) / panel.rows;
  }
  try {
    if (store.resumed()) {
      summary.quadrature_error = stored_quadrature_error(store);
    } else {
      summary.quadrature_error = quadrature_error(work, networks, blocks, options, engine);
      store.create(work.matrices, options.beside, settings_text(options, summary));
    }
    compute(work, options, engine, store, summary);
    store.finish();
  } catch (const Error& error) {
    if (error.code() == Code::numerical) store.discard();
    if (error.code() != Code::interrupted && error.code() != Code::resource) throw;
    fail(error.code(), "{}; {}", error.what(), store.advice());
  }
  summary.seconds = seconds_since(start);
  return summary;
}

}  // namespace widelimit
